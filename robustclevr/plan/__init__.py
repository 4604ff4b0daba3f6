"""Draw and Scene to Plan, and the fingerprint of a split."""

from robustclevr.plan.build import make_plan, plan_draws
from robustclevr.plan.fingerprint import fingerprint
from robustclevr.plan.images import CLEAN, JOINT, plan_images, steps_of, variants_of

__all__ = [
    "CLEAN",
    "JOINT",
    "fingerprint",
    "make_plan",
    "plan_draws",
    "plan_images",
    "steps_of",
    "variants_of",
]
