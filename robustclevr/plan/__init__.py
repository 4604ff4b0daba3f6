"""Draw and Scene to Plan, and the fingerprint of a split."""

from robustclevr.plan.build import Planner, make_plan
from robustclevr.plan.clips import ClipPlanner, clip_options, make_clip_plan
from robustclevr.plan.draws import SplitDraws
from robustclevr.plan.fingerprint import fingerprint, recipe_digests
from robustclevr.plan.images import CLEAN, JOINT, plan_images, steps_of, variants_of
from robustclevr.plan.pictures import PicturePlanner
from robustclevr.plan.sources import source_digests

__all__ = [
    "CLEAN",
    "JOINT",
    "ClipPlanner",
    "PicturePlanner",
    "Planner",
    "SplitDraws",
    "clip_options",
    "fingerprint",
    "make_clip_plan",
    "make_plan",
    "plan_images",
    "recipe_digests",
    "source_digests",
    "steps_of",
    "variants_of",
]
