"""Samples that are there twice are named, unless they are meant to agree."""

from robustclevr.verify.examine import Print
from robustclevr.verify.leaks import Duplicates


def prints(index, source, *, scene, picture=b"p", noise=b"n"):
    digests = {"scene": scene, "picture": picture, "noise": noise}
    return [Print(kind, digest, index, source) for kind, digest in digests.items()]


def test_twins_and_points_of_a_grid_share_their_source():
    duplicates = Duplicates()
    duplicates.add("test", prints(0, ("test", 0), scene=b"a"))
    duplicates.add("twins", prints(0, ("test", 0), scene=b"a"))
    assert duplicates.problems() == ()
    assert duplicates.count == 6


def test_a_leak_between_splits_names_both_samples_once():
    duplicates = Duplicates()
    duplicates.add("train", prints(7, ("train", 7), scene=b"a"))
    duplicates.add("test", prints(2, ("test", 2), scene=b"a", noise=b"other"))
    (problem,) = duplicates.problems()
    assert problem.sample == "test/000002"
    assert problem.what == (
        "has the same scene and the same picture, byte for byte as train/000007"
    )


def test_the_same_sample_twice_in_one_split():
    duplicates = Duplicates()
    for index in range(3):
        duplicates.add("test", prints(index, ("test", index), scene=b"a", picture=bytes([index])))
    assert [problem.sample for problem in duplicates.problems()] == ["test/000001", "test/000002"]


def test_kinds_do_not_mix():
    duplicates = Duplicates()
    duplicates.add("test", [Print("scene", b"x", 0, ("test", 0))])
    duplicates.add("test", [Print("noise", b"x", 1, ("test", 1))])
    assert duplicates.problems() == ()
