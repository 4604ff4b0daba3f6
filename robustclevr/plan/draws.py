"""What a split draws: its interventions applied to its model, sample by sample.

Each sample has a model, a stream and an index in that stream. A plain split has one model and
its own stream; a twin has the stream of the split that it is a twin of; a grid has one model a
point, and as many samples of one scene as it has points; an out-of-distribution split has a
model a sample. Where each frame of a clip has its own draw, the frames of sample i stand in the
stream at i * frames, i * frames + 1, and so on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustclevr import seeds
from robustclevr.errors import SpecError
from robustclevr.records import Draw, Value
from robustclevr.scm import SCM, DrawTable
from robustclevr.scm.noise import Noise, noise_names, recorded_noise
from robustclevr.scm.ood import require_outside
from robustclevr.scm.table import concatenate
from robustclevr.scm.tail import Tail, find_tail, sample_tail
from robustclevr.spec import DagSpec, SplitSpec


@dataclass(frozen=True)
class Source:
    """Where one sample's randomness comes from.

    Attributes
    ----------
    split : str
        Name of the split whose streams are read.
    index : int
        Index in these streams.
    """

    split: str
    index: int


class SplitDraws:
    """The draws of one split.

    Parameters
    ----------
    split : SplitSpec
        With a DAG.
    root_seed : int

    Raises
    ------
    SpecError
        If an intervention cannot be made: a tail of a constant density, a region that is not
        outside the support, a shift that changes nothing.
    """

    def __init__(self, split: SplitSpec, *, root_seed: int) -> None:
        if split.dag is None:
            raise ValueError(f"split '{split.name}' has no DAG to draw from")
        self._split, self._root_seed = split, root_seed
        changes: Mapping[str, Any] = split.interventions
        self._changes = changes
        self._stream = str(changes.get("twin_of", split.name))
        with self._problems_of(""):
            self._factual = _changed(SCM(split.dag), changes.get("twin_base", {}))
            self._model = _changed(self._factual, changes)
        self._frames = split.draws_per_sample
        self._points = grid_points(changes.get("grid", {}))
        self._tail = self._find_tail()
        if "ood" in changes:
            with self._problems_of("ood"):
                require_outside(self._model, changes["ood"])

    def source(self, index: int) -> Source:
        """Return whose scene, noise and seeds a sample has."""
        return Source(self._stream, index // len(self._points))

    @property
    def dag(self) -> DagSpec:
        """The DAG with the soft interventions of the split."""
        return self._model.dag

    @property
    def frames(self) -> int:
        """Draws of one sample: 1, or the number of frames where each has its own."""
        return self._frames

    def position(self, index: int, frame: int = 0) -> int:
        """Return where the draw of one frame of a sample stands in its stream."""
        return self.source(index).index * self._frames + frame

    def draw(self, index: int, frame: int = 0) -> Draw:
        """Return the draw of one sample, or of one of its frames."""
        draw = self._row(index, frame).draw(0)
        texts = dict(self._at(index, frame).interventions)
        if self._tail is not None:
            texts["tail"] = str(self._tail)
        if "twin_of" in self._changes:
            texts["twin_of"] = self._stream
        return replace(draw, index=index, interventions=texts)

    def table(
        self, start: int, count: int, *, held: Sequence[Mapping[str, Value]] | None = None
    ) -> DrawTable:
        """Return the draws of consecutive samples as a table, without the interventions of rows.

        Row k holds the values of ``draw(start + k)``; with ``held``, those of
        ``under(start + k, held[k])``. Of a sample with a draw for each frame, the first.
        """
        if held is not None:
            models = [self._model.do(values) if values else self._model for values in held]
            return concatenate(
                [self._plain(model, start + row, 1) for row, model in enumerate(models)]
            )
        if len(self._points) == 1 and "ood" not in self._changes:
            if self._frames == 1:
                return self._plain(self._model, start, count)
            every = self._plain(self._model, start * self._frames, count * self._frames)
            found = every.take(np.arange(0, len(every), self._frames))
        else:
            found = concatenate([self._row(index) for index in range(start, start + count)])
        return replace(found, index=np.arange(start, start + count, dtype=np.int64))

    def recomputed(
        self, noise: Noise, count: int, *, held: Sequence[Mapping[str, Value]] | None = None
    ) -> DrawTable:
        """Return what follows from the noise of the first samples, whatever their streams say.

        Parameters
        ----------
        noise : mapping of node to mapping of noise to ndarray of float64, shape (count,)
            All noises of samples 0 to ``count - 1``.
        count : int
        held : sequence of mapping, optional
            As for :meth:`table`.
        """
        index = np.arange(count, dtype=np.int64)
        if held is None and len(self._points) == 1 and "ood" not in self._changes:
            return replace(self._model, condition=None).propagate(index, noise)
        tables = []
        for row in range(count):
            if held is None:
                model = self._at(row)
            else:
                model = self._model.do(held[row]) if held[row] else self._model
            here = slice(row, row + 1)
            own = {node: {k: x[here] for k, x in named.items()} for node, named in noise.items()}
            tables.append(replace(model, condition=None).propagate(index[here], own))
        return concatenate(tables)

    def candidate(self, index: int, number: int) -> dict[str, Value]:
        """Return what candidate ``number`` of a worst case holds the parameters at.

        Candidate 0 holds none: it is the draw itself. The others take the values of draws of
        their own from the same model, so all lie in its distribution.
        """
        if number == 0:
            return {}
        stream = f"{self._stream}\0candidate {number}"
        other = self._model.draw(seed=self._root_seed, split=stream, index=index)
        names = [str(name).split(".", 1) for name in self._changes["worst_case"]["over"]]
        return {f"{node}.{name}": other.nodes[node].parameters[name] for node, name in names}

    def under(self, index: int, values: Mapping[str, Value]) -> Draw:
        """Return the draw of one sample with some parameters held at values."""
        model = self._model.do(values) if values else self._model
        return model.draw(seed=self._root_seed, split=self._stream, index=index)

    def _row(self, index: int, frame: int = 0) -> DrawTable:
        return self._plain(self._at(index, frame), self.position(index, frame), 1)

    def _plain(self, model: SCM, start: int, count: int) -> DrawTable:
        where: dict[str, Any] = {"seed": self._root_seed, "split": self._stream, "start": start}
        if self._tail is not None:
            return sample_tail(model, self._tail, count, **where)
        if self._factual.condition is not None and self._keeps_noise():
            # The twin of a conditioned split keeps the noise that was accepted there.
            factual = self._factual.sample(count, **where)
            index, noise = recorded_noise(self._factual.dag, factual)
            return replace(model, condition=None).propagate(index, noise)
        return model.sample(count, **where)

    def _at(self, index: int, frame: int = 0) -> SCM:
        """Return the model of one sample, or of one of its frames."""
        if "ood" in self._changes:
            return self._model.do(self._in_box(index * self._frames + frame))
        point = self._points[index % len(self._points)]
        return self._model.do(point) if point else self._model

    def _in_box(self, index: int) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for name, (low, high) in self._changes["ood"].items():
            stage = f"ood\0{name}"
            u = seeds.uniforms(self._root_seed, self._split.name, stage, start=index, count=1)
            values[name] = float(low + u[0] * (high - low))
        return values

    def _keeps_noise(self) -> bool:
        names = noise_names(self._factual.dag)
        return "given" not in self._changes and names.isdisjoint(self._changes.get("shift", {}))

    def _find_tail(self) -> Tail | None:
        if "tail" not in self._changes:
            return None
        tail = self._changes["tail"]
        with self._problems_of("tail"):
            return find_tail(self._model, of=tail["of"], below=tail["below"], seed=self._root_seed)

    @contextmanager
    def _problems_of(self, key: str) -> Iterator[None]:
        """Say of each problem which key of which split it is about."""
        split = self._split
        try:
            yield
        except SpecError as error:
            raise SpecError(
                replace(
                    problem,
                    file=split.file or problem.file,
                    line=split.line,
                    path=".".join(filter(None, ("splits", split.name, key, problem.path))),
                )
                for problem in error.problems
            ) from error


def grid_points(grid: Mapping[str, list[Value]]) -> tuple[dict[str, Value], ...]:
    """Return every combination of a grid's values, the last parameter's changing fastest.

    Examples
    --------
    >>> grid_points({"a.x": [1, 2], "b.y": [3, 4]})[:3]
    ({'a.x': 1, 'b.y': 3}, {'a.x': 1, 'b.y': 4}, {'a.x': 2, 'b.y': 3})
    >>> grid_points({})
    ({},)
    """
    return tuple(
        dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())
    )


def _changed(model: SCM, changes: Mapping[str, Any]) -> SCM:
    if "shift" in changes:
        model = model.shift(changes["shift"])
    if "do" in changes:
        model = model.do(changes["do"])
    return model.given(changes["given"]) if "given" in changes else model
