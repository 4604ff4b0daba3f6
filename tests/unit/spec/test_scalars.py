import math

import pytest

from robustclevr.spec import parse_scalar

# The examples of YAML 1.2.2 section 10.3, and the places where YAML 1.1 differs.
CASES = {
    "null": None,
    "~": None,
    "": None,
    "true": True,
    "True": True,
    "FALSE": False,
    "tRUE": "tRUE",
    "on": "on",
    "off": "off",
    "yes": "yes",
    "no": "no",
    "y": "y",
    "0": 0,
    "-19": -19,
    "+12": 12,
    "012": 12,
    "0o17": 15,
    "0o18": "0o18",
    "0x3A": 58,
    "0b11": "0b11",
    "1_000": "1_000",
    "12:30:45": "12:30:45",
    "2001-12-14": "2001-12-14",
    "0.": 0.0,
    "-0.0": -0.0,
    ".5": 0.5,
    "+12e03": 12000.0,
    "-2E+05": -200000.0,
    "1e-3": 0.001,
    "1e3": 1000.0,
    "e3": "e3",
    ".": ".",
    "-": "-",
    ".inf": math.inf,
    "-.Inf": -math.inf,
    "inf": "inf",
    "<<": "<<",
    "HalfNormal(0.3)": "HalfNormal(0.3)",
}


@pytest.mark.parametrize(("text", "value"), CASES.items(), ids=[repr(text) for text in CASES])
def test_a_plain_scalar_means_what_the_core_schema_says(text: str, value: object) -> None:
    parsed = parse_scalar(text)
    assert type(parsed) is type(value)
    assert parsed == value


def test_not_a_number_is_a_float() -> None:
    assert math.isnan(parse_scalar(".NaN"))


def test_digits_without_end_do_not_raise() -> None:
    assert parse_scalar("9" * 10_000) == math.inf
