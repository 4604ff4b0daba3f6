"""Text to valid spec: YAML in, frozen records out, every error at once with its line."""

from robustclevr.spec.authors import import_dag
from robustclevr.spec.built import require_built
from robustclevr.spec.dag import dag_from_document, load_dag
from robustclevr.spec.dataset import load_dataset, split_from_document
from robustclevr.spec.formula import format_expression, parse_distribution, parse_formula
from robustclevr.spec.library import dag_text, dataset_text, list_dags, list_datasets
from robustclevr.spec.model import (
    Assignment,
    DagSpec,
    DatasetSpec,
    Distribution,
    NodeSpec,
    NoiseSpec,
    RenderOptions,
    SplitSpec,
)
from robustclevr.spec.pictures import (
    missing_twins,
    picture_count,
    pictures_dataset,
    pictures_of,
)
from robustclevr.spec.reading import read_document
from robustclevr.spec.scalars import parse_scalar
from robustclevr.spec.stages import stage_warnings
from robustclevr.spec.tokens import FormulaError

__all__ = [
    "Assignment",
    "DagSpec",
    "DatasetSpec",
    "Distribution",
    "FormulaError",
    "NodeSpec",
    "NoiseSpec",
    "RenderOptions",
    "SplitSpec",
    "dag_from_document",
    "dag_text",
    "dataset_text",
    "format_expression",
    "import_dag",
    "list_dags",
    "list_datasets",
    "load_dag",
    "load_dataset",
    "missing_twins",
    "parse_distribution",
    "parse_formula",
    "parse_scalar",
    "picture_count",
    "pictures_dataset",
    "pictures_of",
    "read_document",
    "require_built",
    "split_from_document",
    "stage_warnings",
]
