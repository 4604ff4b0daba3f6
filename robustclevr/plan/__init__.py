"""Draw and Scene to Plan, and the fingerprint of a split."""

from robustclevr.plan.build import make_plan, plan_draws
from robustclevr.plan.fingerprint import fingerprint, recipe_digests
from robustclevr.plan.images import CLEAN, JOINT, plan_images, steps_of, variants_of

__all__ = [
    "CLEAN",
    "JOINT",
    "fingerprint",
    "make_plan",
    "plan_draws",
    "plan_images",
    "recipe_digests",
    "steps_of",
    "variants_of",
]
