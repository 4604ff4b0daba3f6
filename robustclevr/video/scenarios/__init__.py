"""What makes the test sets of VMDS what they are: scenarios, which compose."""

from collections.abc import Mapping
from types import MappingProxyType

from robustclevr.video.scenarios.changes import COLOR, ROTATION, SIZE
from robustclevr.video.scenarios.draft import Draft, Option, Scenario, Values
from robustclevr.video.scenarios.looks import LARGE, LOW_CONTRAST, SAME_COLOR, SMALL
from robustclevr.video.scenarios.paths import CROWD, ENTER_EXIT, OCCLUSION, SWAP

SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        "crowd": CROWD,
        "small": SMALL,
        "large": LARGE,
        "size": SIZE,
        "rotation": ROTATION,
        "low_contrast": LOW_CONTRAST,
        "color": COLOR,
        "same_color": SAME_COLOR,
        "occlusion": OCCLUSION,
        "swap": SWAP,
        "enter_exit": ENTER_EXIT,
    }
)
"""By name, in the order in which they are applied, whatever the order in a file."""

COMBINED: Mapping[str, tuple[str, ...]] = MappingProxyType({"mixed": ("size", "rotation", "color")})
"""Names for several at once: the combined training set of Weis et al., appendix E.1."""

__all__ = ["COMBINED", "SCENARIOS", "Draft", "Option", "Scenario", "Values"]
