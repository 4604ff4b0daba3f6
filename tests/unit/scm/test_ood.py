import pytest

from robustclevr.errors import SpecError
from robustclevr.scm import SCM
from robustclevr.scm.ood import require_outside


@pytest.mark.parametrize(
    ("dag", "box"),
    [
        ("tree-uniform", {"gamma.gamma": [4.0, 5.0]}),
        ("tree-uniform", {"gamma.gamma": [2.99, 5.0]}),
        ("tree-uniform", {"gaussian_blur.size": [3.2, 3.8]}),  # between two values
        ("tree-uniform", {"gamma.gamma": [4.0, 5.0], "gaussian_blur.size": [1, 3]}),
        ("tree-halfnormal", {"gamma.gamma": [0.2, 0.9]}),
    ],
)
def test_accepted(dag, box):
    require_outside(SCM.from_yaml(dag), box)


@pytest.mark.parametrize(
    ("dag", "box", "says"),
    [
        (
            "tree-uniform",
            {"gamma.gamma": [1.5, 2.0]},
            (
                r"\[1\.5, 2\] is not outside the support of gamma\.gamma, \[1, 2\.98\], 100 "
                r"values; "
                r"choose an interval below 1 or above 2\.98$"
            ),
        ),
        (
            "tree-halfnormal",
            {"gamma.gamma": [4.0, 5.0]},
            (
                r"support of gamma\.gamma, \[1, inf\); choose an interval below 1; where there "
                r"is no bound, hold gamma\.gamma with 'do' or change its law with 'shift'"
            ),
        ),
        ("tree-halfnormal", {"glare.mix": [4, 5]}, r"\(-inf, inf\); every number may be drawn"),
        (
            "tree-uniform",
            {"gamma.gamma": [1.5, 2.0], "gaussian_blur.size": [1, 3]},
            r"(?s)gamma\.gamma.*gaussian_blur\.size",
        ),
    ],
)
def test_refused(dag, box, says):
    with pytest.raises(SpecError, match=says):
        require_outside(SCM.from_yaml(dag), box)
