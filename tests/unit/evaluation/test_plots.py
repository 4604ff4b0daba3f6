"""Pictures of scores: what is not defined, what has no interval, two models of one name."""

import numpy as np
import pytest

from robustclevr.evaluation.options import EvaluationOptions
from robustclevr.evaluation.plots import plots
from robustclevr.evaluation.summary import summarize
from robustclevr.evaluation.table import Row, Table


def summary(values, severities):
    """Score mean squared errors by hand, of samples that are of the node glare."""
    rows = [
        Row(
            *("test", index, "glare", severity, False),
            sums={"mse": np.array([np.nan_to_num(value), not np.isnan(value)], float)},
        )
        for index, (value, severity) in enumerate(zip(values, severities, strict=True))
    ]
    return summarize(Table(tuple(rows)), ("mse",), EvaluationOptions(), seed=0)


def test_a_score_that_is_not_defined_is_no_bar_of_zero():
    zero, nothing = (summary([value] * 2, [0.5, 0.5]) for value in (0.0, np.nan))
    assert b">undefined<" not in plots([("a", zero)])["scores.svg"]
    assert plots([("a", zero), ("b", nothing)])["scores.svg"].count(b">undefined<") == 1


@pytest.mark.parametrize(("severities", "alone"), [([0.5, 0.5, 0.9], True), ([0.5] * 3, False)])
def test_bins_of_one_image_are_told_apart(severities, alone):
    drawn = plots([("a", summary([1.0, 2.0, 3.0], severities))])["severity_mse.svg"]
    assert (b">a bin of one image: no interval<" in drawn) == alone


def test_models_of_one_name_are_both_drawn():
    both = [("a", summary([1.0, 2.0], [0.5, 0.5]))] * 2
    assert plots(both)["scores.svg"].count(b">a<") == 2
