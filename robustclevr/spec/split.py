"""One split with everything resolved: defaults, the file's top level, the split's own keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from robustclevr.errors import suggest
from robustclevr.records import SceneOptions, VideoOptions
from robustclevr.spec.dataset_schema import EVERY_NODE, DatasetFile, SplitFile
from robustclevr.spec.document import Document, join
from robustclevr.spec.interventions import EXCLUSIVE, KINDS, grid_size, read_interventions
from robustclevr.spec.model import DagSpec, RenderOptions, SplitSpec
from robustclevr.spec.video import read_video, video_document

IMAGE_FAMILIES = ("clevr", "clevrtex")
SPRITE_FAMILIES = ("vmds", "texvmds", "spmot")
VIDEO_FAMILIES = (*SPRITE_FAMILIES, "vor")

DEFAULT_SCENE: Mapping[str, Any] = {
    "objects": [3, 10],
    "palette": "clevr",
    "compat": "none",
    "min_pixels": 200,
    "min_distance": 0.25,
    "margin": 0.4,
    "tries": 2000,
}
"""Numbers of clevr-dataset-gen render_images.py; ``tries`` chosen: it has no bound of its own."""

DEFAULT_RENDER: Mapping[str, Any] = {"height": 240, "width": 320, "samples": 512, "denoise": False}
"""Numbers of clevr-dataset-gen render_images.py; no denoiser: its pixels are not reproducible."""

DEFAULT_OUTPUTS = ("image", "mask")
DEFAULT_SHARD_SIZE = 64
"""Samples a shard; chosen: nine images each make a tar of some 60 MB."""

CLIP_OUTPUTS = ("image", "mask", "amodal")
"""What every clip holds, whether asked for or not."""

DEFAULT_CLIP_SHARD_SIZE = 100
"""Clips a shard; chosen: half a second of work and 1 MB, and a test set of 1000 keeps ten cores
busy."""

DEFAULT_PER = "clip"
"""A corruption is a property of the camera, which does not change within a clip."""

_OUTPUTS_OF = {
    **dict.fromkeys(("flow", "background"), VIDEO_FAMILIES),
    **dict.fromkeys(("depth", "normal"), IMAGE_FAMILIES),
}
"""Families of the outputs that not all have."""


class SplitReader:
    """Resolves the splits of one dataset file; every error is noted in its document."""

    def __init__(self, document: Document, file: DatasetFile, family: str, folder: Path) -> None:
        self._document, self._file, self._family = document, file, family
        self._folder = folder

    def read(self, name: str, dag: DagSpec | None) -> SplitSpec:
        """Return one split; what is wrong is noted and replaced by a default.

        Parameters
        ----------
        name : str
        dag : DagSpec or None
            Its DAG, loaded.
        """
        split = self._file.splits[name]
        path = join("splits", name)
        if split.samples is None and join(path, "samples") not in self._document.broken:
            self._document.problem(path, "needs 'samples'", "such as samples: 1000")
        scene = {**DEFAULT_SCENE, **self._merged("scene", split)}
        if "variant" in scene and self._family != "clevrtex":
            what = f"'variant' has no meaning for family '{self._family}'"
            self._document.problem(join(self._path("scene", name), "variant"), what)
        render = {**DEFAULT_RENDER, **self._merged("render", split)}
        outputs = self._outputs(name, split)
        emit = self._emit(name, split, dag)
        is_video = self._family in VIDEO_FAMILIES
        default_size = DEFAULT_CLIP_SHARD_SIZE if is_video else DEFAULT_SHARD_SIZE
        shard_size = self._value("shard_size", split) or default_size
        interventions = self._interventions(name, split, dag)
        per = self._per(name, split, dag)
        place = self._document.place(path)
        video, shown = self._video(name, split) if is_video else (None, {})
        samples = (split.samples or 1) * grid_size(interventions.get("grid"))
        document = {
            "family": self._family,
            "samples": samples,
            "dag": None if dag is None else _without_prose(dag.document),
            "emit": emit if isinstance(emit, str) else list(emit),
            **(shown if is_video else {"scene": scene, "render": render}),
            "outputs": list(outputs),
            "shard_size": shard_size,
            **({"per": per} if per != DEFAULT_PER else {}),  # data from before it had a name go on
            **interventions,
        }
        return SplitSpec(
            name=name,
            samples=samples,
            family=self._family,
            dag=dag,
            emit=emit,
            scene=_scene_options(scene),
            render=RenderOptions(**render),
            outputs=outputs,
            shard_size=shard_size,
            document=document,
            interventions=interventions,
            file=place.file,
            line=place.line,
            video=video,
            per=per,
        )

    def _value(self, key: str, split: SplitFile) -> Any:
        return getattr(split if key in split.model_fields_set else self._file, key)

    def _path(self, key: str, name: str) -> str:
        own = key in self._file.splits[name].model_fields_set
        return join("splits", name, key) if own else key

    def _merged(self, key: str, split: SplitFile) -> dict[str, Any]:
        parts: list[BaseModel] = [getattr(self._file, key), getattr(split, key)]
        merged: dict[str, Any] = {}
        for part in parts:
            merged |= part.model_dump(exclude_none=True)
        return merged

    def _video(self, name: str, split: SplitFile) -> tuple[VideoOptions | None, dict[str, Any]]:
        """Return the options of a split's clips, and its part of the split's document."""
        written, scenario = self._merged("video", split), self._value("scenario", split)
        as_written = {"video": written, "scenario": scenario}
        if self._family not in SPRITE_FAMILIES:
            return None, as_written

        def where(path: str) -> str:
            key, _, option = path.partition(".")
            section = split if key in split.model_fields_set else self._file
            if key == "video" and option not in split.video.model_fields_set:
                section = self._file if option in self._file.video.model_fields_set else split
            return path if section is self._file else join("splits", name, path)

        options = read_video(
            self._document, self._family, written, scenario, where=where, folder=self._folder
        )
        return options, as_written if options is None else video_document(options, written)

    def _outputs(self, name: str, split: SplitFile) -> tuple[str, ...]:
        outputs = tuple(self._value("outputs", split) or DEFAULT_OUTPUTS)
        for output in outputs:
            families = _OUTPUTS_OF.get(output, (self._family,))
            if self._family not in families:
                path = self._path("outputs", name)
                what = f"'{output}' has no meaning for family '{self._family}'"
                self._document.problem(path, what, f"it belongs to {', '.join(families)}")
        if self._family not in VIDEO_FAMILIES:
            return outputs
        return tuple(dict.fromkeys((*CLIP_OUTPUTS, *outputs)))

    def _per(self, name: str, split: SplitFile, dag: DagSpec | None) -> str:
        if dag is not None:
            return self._value("per", split) or DEFAULT_PER
        path = join("splits", name)
        if split.per is not None and not {"dag", join(path, "dag")} & self._document.broken:
            self._document.problem(join(path, "per"), "'per' needs a DAG", "name one under 'dag'")
        return DEFAULT_PER

    def _emit(self, name: str, split: SplitFile, dag: DagSpec | None) -> str | tuple[str, ...]:
        emit = self._value("emit", split)
        if emit is None or emit == EVERY_NODE:
            return EVERY_NODE if dag is not None else ("clean",)
        path = self._path("emit", name)
        lost = {"dag", join("splits", name, "dag")} & self._document.broken
        for index, image in enumerate(() if lost else emit):
            self._check_image(join(path, index), image, dag)
        return tuple(emit)

    def _check_image(self, path: str, image: str, dag: DagSpec | None) -> None:
        nodes = {} if dag is None else {node.id: node for node in dag.nodes}
        seen = [name for name, node in nodes.items() if not node.latent]
        allowed = ["clean", "leaves", "joint", *seen] if nodes else ["clean"]
        if image in allowed:
            return
        if image in nodes:
            what, hint = f"'{image}' is a latent node and has no image", ""
        elif dag is None:
            what, hint = f"'{image}' needs a DAG", "name one under 'dag', or emit: [clean]"
        else:
            what, hint = f"there is no node '{image}'", suggest(image, allowed)
        self._document.problem(path, what, hint)

    def _interventions(self, name: str, split: SplitFile, dag: DagSpec | None) -> dict[str, object]:
        path = join("splits", name)
        written = [key for key in KINDS if getattr(split, key) is not None]
        exclusive = [key for key in EXCLUSIVE if key in written]
        if len(exclusive) > 1:
            what = f"{' and '.join(exclusive)} exclude each other"
            self._document.problem(join(path, exclusive[1]), what, "make two splits of them")
        found: dict[str, object] = {}
        if split.twin_of is not None:
            self._check_twin(name, split.twin_of)
            found["twin_of"] = split.twin_of
            found |= self._twin_base(split.twin_of, dag)
        if dag is not None:
            found |= read_interventions(self._document, name, split, dag)
        elif written and not {"dag", join(path, "dag")} & self._document.broken:
            what = f"'{written[0]}' needs a DAG"
            self._document.problem(join(path, written[0]), what, "name one under 'dag'")
        return found

    def _check_twin(self, name: str, twin: str) -> None:
        path, others = join("splits", name, "twin_of"), self._file.splits.keys() - {name}
        if twin == name:
            self._document.problem(path, "a split is not its own twin", suggest(twin, others))
        elif twin not in others and join("splits", twin) not in self._document.broken:
            self._document.problem(path, f"there is no split '{twin}'", suggest(twin, others))
        elif twin in others and self._file.splits[twin].twin_of is not None:
            origin = self._file.splits[twin].twin_of
            self._document.problem(path, f"'{twin}' is itself a twin", f"write twin_of: {origin}")
        elif twin in others:
            self._check_kinship(path, self._file.splits[name], self._file.splits[twin], twin)

    def _check_kinship(self, path: str, split: SplitFile, base: SplitFile, twin: str) -> None:
        """Note what keeps two splits from having the same scenes and the same noise."""
        for key in EXCLUSIVE:
            if getattr(base, key) is not None:
                what = f"'{twin}' is drawn with '{key}', and such samples have no twins"
                self._document.problem(path, what, "name a split that is not")
        shared = {
            "dag": (self._value("dag", split), self._value("dag", base)),
            "scene": (self._merged("scene", split), self._merged("scene", base)),
            "per": (self._value("per", split), self._value("per", base)),
        }
        if "frame" in shared["per"]:  # where a frame's draw stands depends on their number
            frames = [self._merged("video", part).get("frames") for part in (split, base)]
            shared["video.frames"] = (frames[0], frames[1])
        for key, values in shared.items():
            if values[0] != values[1]:
                what = f"'{key}' differs from that of '{twin}', whose scenes and noise a twin has"
                self._document.problem(path, what, f"leave '{key}' out of both splits")

    def _twin_base(self, twin: str, dag: DagSpec | None) -> dict[str, object]:
        """Return what the original of a twin changes in the DAG already."""
        base = self._file.splits.get(twin)
        if base is None or dag is None or base.twin_of is not None:
            return {}
        changes = read_interventions(self._document, twin, base, dag)
        kept = {key: changes[key] for key in ("do", "shift", "given") if key in changes}
        return {"twin_base": kept} if kept else {}


def _scene_options(scene: Mapping[str, Any]) -> SceneOptions:
    fields = {key: scene[key] for key in DEFAULT_SCENE}
    fields["objects"] = tuple(fields["objects"])
    return SceneOptions(**fields)


def _without_prose(document: Mapping[str, object]) -> dict[str, object]:
    """Return a DAG's document without what changes no draw."""
    return {key: value for key, value in document.items() if key not in ("summary", "source")}
