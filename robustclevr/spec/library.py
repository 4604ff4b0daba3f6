"""The YAML files that ship with the package, by name."""

from __future__ import annotations

from pathlib import Path

from robustclevr.errors import SpecError, suggest
from robustclevr.spec.document import read_text
from robustclevr.spec.reading import read_document

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped_dags_dir() -> Path:
    """Return the folder of the shipped DAG files, in a wheel as in a checkout."""
    inside, beside = _PACKAGE / "dags", _PACKAGE.parent / "dags"
    return inside if inside.is_dir() else beside


def catalog_dir() -> Path:
    """Return the folder of the shipped dataset files."""
    return _PACKAGE / "catalog"


def list_dags() -> dict[str, str]:
    """Return the name and the one-line summary of every shipped DAG."""
    return _summaries(shipped_dags_dir())


def list_datasets() -> dict[str, str]:
    """Return the name and the one-line summary of every dataset of the catalogue."""
    return _summaries(catalog_dir())


def dag_text(name: str) -> str:
    """Return the text of a shipped DAG file; SpecError if there is none of that name."""
    return read_text(find_dag(name))


def dataset_text(name: str) -> str:
    """Return the text of a catalogue entry; SpecError if there is none of that name."""
    return read_text(find_dataset(name))


def find_dag(name_or_path: str | Path, *, relative_to: Path | None = None) -> Path:
    """Return the file of a shipped DAG, or the path itself.

    Parameters
    ----------
    name_or_path : str or Path
        A name; or a path: a Path, or a text that ends in .yaml or .yml or holds a slash.
    relative_to : Path, optional
        Folder that a relative path starts from; the working directory if None.

    Raises
    ------
    SpecError
        If there is no shipped DAG of that name; with the nearest spelling and the list.
    """
    return _find(name_or_path, "DAG", shipped_dags_dir(), relative_to)


def find_dataset(name_or_path: str | Path) -> Path:
    """Return the file of a catalogue entry, or the path itself; as :func:`find_dag`."""
    return _find(name_or_path, "dataset", catalog_dir(), None)


def _find(name_or_path: str | Path, what: str, folder: Path, relative_to: Path | None) -> Path:
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or text.endswith((".yaml", ".yml")):
        path = Path(name_or_path).expanduser()
        return relative_to / path if relative_to else path
    names = _names(folder)
    if text not in names:
        hint = f"{suggest(text, names)}; a file is given by a path that ends in .yaml"
        raise SpecError.single(f"there is no {what} called '{text}'", hint=hint)
    return folder / f"{text}.yaml"


def _names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _summaries(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _names(folder):
        summary = read_document(folder / f"{name}.yaml").data.get("summary", "")
        found[name] = str(summary)
    return found
