"""All that one shard can be checked for by itself; runs in worker processes.

A shard's name enters; problems leave, and what only a look at all shards can judge: what tells
samples apart, and the rows of the table of draws. Samples are read one at a time.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from robustclevr.errors import RobustClevrError, SpecError, StoreError
from robustclevr.recipe import LoadedRecipe, load_recipe
from robustclevr.records import canonical_json, from_json
from robustclevr.scm.distributions import SMOOTH
from robustclevr.spec import SplitSpec
from robustclevr.spec.interventions import grid_size
from robustclevr.store.dataset import Dataset, Sample, ShardPlace
from robustclevr.store.layout import SCENES_JSON_LIMIT, sample_key
from robustclevr.store.receipts import Check, verified_receipt
from robustclevr.store.shard import iter_samples
from robustclevr.store.tables import DrawColumns, scene_entry
from robustclevr.verify.kinds import Kind, absent_sources, kind_of, load_split, record_check
from robustclevr.verify.report import REMAKE, Problem, placed
from robustclevr.verify.schemas import SchemaCheck
from robustclevr.verify.tars import tar_problems

CHECKS = ("shards", "schema", "labels", "records")
"""In order of cost."""

_UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""What reading a record raises that is not one of ours."""


@dataclass(frozen=True)
class ShardName:
    """Which shard to look at, and with which recipe files; may be pickled."""

    root: str
    split: str
    shard: int
    recipes: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Print:
    """What tells one sample from another.

    Attributes
    ----------
    kind : str
        ``picture``, ``scene`` or ``noise``: what the digest is of.
    digest : bytes
        16 bytes.
    index : int
        Of the sample.
    source : pair of str and int
        Where its randomness comes from: samples with the same source are meant to agree.
    """

    kind: str
    digest: bytes
    index: int
    source: tuple[str, int]


@dataclass
class Findings:
    """What one shard gave.

    Attributes
    ----------
    split, tar : str
        Name of the split, and file name of the shard.
    sha256 : str
        Of the tar; empty where the shard does not count.
    missing : bool
        Whether there is no such shard.
    checked, problems, seconds : mapping
        By check: samples looked at, what was wrong, time. [s]
    unplanned : str
        Why records could not be compared with the spec; empty where they were.
    prints : list of Print
    draws : pyarrow.Table or None
        Rows of the table of draws, as the records have them.
    scenes : list of bytes
        Digest of each sample's scene in ``scenes.json``.
    """

    split: str
    tar: str
    sha256: str = ""
    missing: bool = False
    checked: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CHECKS, 0))
    problems: dict[str, list[Problem]] = field(default_factory=lambda: defaultdict(list))
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(CHECKS, 0.0))
    unplanned: str = ""
    prints: list[Print] = field(default_factory=list)
    draws: pa.Table | None = None
    scenes: list[bytes] = field(default_factory=list)

    @contextmanager
    def timing(self, check: str) -> Iterator[None]:
        """Count the time of a block as that of a check."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[check] += time.perf_counter() - started

    def add(self, check: str, problems: Iterable[Problem], **place: str) -> None:
        """Take what a check found in one sample, or in the shard."""
        self.checked[check] += 1
        self.problems[check] += placed(problems, **place)


def examine(name: ShardName) -> Findings:
    """Check one shard: its checksum, its receipt, its tar, and every sample in it."""
    inspector = _inspector(name.root, name.split, name.recipes)
    return inspector.examine(name.shard)


@lru_cache(maxsize=1)  # a worker goes through one split after the other
def _inspector(root: str, split: str, recipes: tuple[tuple[str, bool], ...]) -> SplitInspector:
    loaded = [load_recipe(Path(path), shipped=shipped) for path, shipped in recipes]
    return SplitInspector(
        Dataset.open(Path(root)), split, {item.recipe.id: item for item in loaded}
    )


class SplitInspector:
    """Checks shards of one split.

    Parameters
    ----------
    dataset : Dataset
    split : str
    recipes : mapping of str to LoadedRecipe
        For planning samples again.
    """

    def __init__(self, dataset: Dataset, split: str, recipes: Mapping[str, LoadedRecipe]) -> None:
        self._dataset, self._split = dataset, split
        self._entry = dataset.split(split)
        self._kind: Kind = kind_of(self._entry.document, recipes)
        self._schema_problems = SchemaCheck(self._kind.schema)
        self._places = dataset.shards(split)
        self._spec: SplitSpec | None = None
        self._record_check, self._unplanned = None, ""
        absent = absent_sources(self._entry.document)
        try:
            self._spec = load_split(dataset, split, recipes)
            if not absent:
                seed = dataset.content["seed"]
                self._record_check = record_check(self._spec, recipes, seed)
        except SpecError as error:
            copies = dataset.layout.recipes
            hint = f"; the dataset's own are found with --recipes {copies}" * copies.is_dir()
            self._unplanned = f"{error}{hint}"
        self._telling = _tells_noise_apart(self._spec)

    def examine(self, shard: int) -> Findings:
        """Return what is wrong with one shard, and what its samples are."""
        place = self._places[shard]
        found = Findings(self._split, place.tar.name, unplanned=self._unplanned)
        with found.timing("shards"):
            if not self._is_sound(place, found):
                return found
            keys = [sample_key(index) for index in range(place.start, place.start + place.count)]
            wrong = placed(tar_problems(place.tar, keys), file=str(place.tar), remedy=REMAKE)
            found.add("shards", wrong)
        columns = DrawColumns()
        try:
            for position, (key, members) in enumerate(iter_samples(place.tar)):
                sample = Sample(self._split, key, members)
                self._examine_sample(sample, place.start + position, found, columns)
        except StoreError as error:
            found.problems["shards"].append(Problem(str(error), remedy=REMAKE))
        found.draws = columns.to_arrow()
        return found

    def _is_sound(self, place: ShardPlace, found: Findings) -> bool:
        """Tell whether a shard is what its receipt and ``dataset.json`` say."""
        try:
            receipt = verified_receipt(
                self._split,
                place.shard,
                self._dataset.layout,
                fingerprint=self._entry.fingerprint,
                check=Check.SHA256,
            )
        except StoreError as error:
            found.problems["shards"].append(Problem(str(error), remedy=_again(place)))
            return False
        if receipt is None:
            found.missing = True
            what = "this shard is missing"
            problem = Problem(what, file=str(place.tar), remedy=_again(place))
            found.problems["shards"].append(problem)
            return False
        there, due = (receipt.start, receipt.count), (place.start, place.count)
        if there != due:
            problem = Problem("first sample and number of samples", str(there), str(due))
            file, remedy = str(place.receipt), _again(place)
            found.problems["shards"].append(problem.at(file=file, remedy=remedy))
            return False
        found.sha256 = receipt.sha256
        return True

    def _examine_sample(
        self, sample: Sample, index: int, found: Findings, columns: DrawColumns
    ) -> None:
        where = {
            "file": str(self._dataset.tar_of(self._split, index)),
            "sample": f"{self._split}/{sample_key(index)}",
            "remedy": REMAKE,
        }
        try:
            record = sample.record
        except StoreError as error:
            found.add("schema", [Problem(str(error))], **where)
            return
        with found.timing("schema"):
            wrong = list(self._schema_problems(record)) or [*self._name_problems(record, index)]
            found.add("schema", wrong, **where)
        if wrong:
            return  # what follows reads the record
        with found.timing("labels"):
            found.add("labels", _guarded(self._content_problems(sample, record)), **where)
        if self._record_check is not None:
            with found.timing("records"):
                found.add("records", _guarded(self._record_check(record, index)), **where)
        columns.add(record)
        found.prints += self._prints(sample, record, index)
        if "scene" in record and self._entry.samples <= SCENES_JSON_LIMIT:
            found.scenes.append(_digest(scene_entry(record)))

    def _name_problems(self, record: Mapping[str, Any], index: int) -> Iterator[Problem]:
        due = (self._split, index, self._dataset.content["seed"])
        plan: Mapping[str, Any] = record["plan"]
        for where, named in (
            ("record", [record.get(key) for key in ("split", "index", "seed")]),
            ("plan", [plan.get(key) for key in ("split", "index", "root_seed")]),
        ):
            if tuple(named) != due:
                yield Problem(f"split, index and seed in its {where}", str(tuple(named)), str(due))

    def _content_problems(self, sample: Sample, record: Mapping[str, Any]) -> Iterator[Problem]:
        plan: Any = from_json(self._kind.plan, record["plan"])
        there, due = frozenset(sample.members), self._kind.members(plan)
        if there != due:
            missing, extra = (", ".join(sorted(names)) for names in (due - there, there - due))
            lacks = f"lacks {missing}" if missing else ""
            has = f"has {extra}, which is not planned" if extra else ""
            yield Problem(f"the sample {' and '.join(filter(None, (lacks, has)))}")
        if there >= due:
            yield from self._kind.content(sample, plan)

    def _prints(self, sample: Sample, record: Mapping[str, Any], index: int) -> Iterator[Print]:
        """Yield what tells a sample from others.

        Of an existing picture only the noise: whether pictures were given twice is not ours.
        """
        drawn = self._source(index)
        seen = self._kind.scene
        if seen is not None:
            video = self._entry.document.get("video", {})
            shown = (video["stream"], index) if video.get("stream", "own") != "own" else drawn
            scene = {key: value for key, value in record["plan"][seen].items() if key not in _NAME}
            yield Print("scene", _digest(canonical_json(scene)), index, shown)
            if self._kind.picture in sample.members:
                pixels = _digest(sample.members[self._kind.picture])
                yield Print("picture", pixels, index, shown)
        if self._telling:
            every = record["plan"].get("frame_draws") or [record]
            noise = [[node["noise"] for node in draw["nodes"].values()] for draw in every]
            yield Print("noise", _digest(canonical_json(noise)), index, drawn)

    def _source(self, index: int) -> tuple[str, int]:
        document = self._entry.document
        stream = str(document.get("twin_of", self._split))
        return stream, index // grid_size(document.get("grid"))


_NAME = frozenset({"split", "index", "root_seed"})


def _tells_noise_apart(spec: SplitSpec | None) -> bool:
    """Tell whether a model has continuous noise, which two samples never share by chance."""
    if spec is None or spec.dag is None:
        return False
    laws = {item.distribution.name for node in spec.dag.nodes for item in node.noise}
    return bool(laws & SMOOTH)


def _guarded(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Pass problems on; a sample that cannot be read is one."""
    try:
        yield from problems
    except RobustClevrError as error:
        yield Problem(str(error))
    except _UNREADABLE as error:
        yield Problem(f"its record cannot be read: {type(error).__name__}: {error}")


def _again(place: ShardPlace) -> str:
    return f"run the same 'generate' command again: it makes shard {place.shard} again"


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
