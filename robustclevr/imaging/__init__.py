"""Linear to sRGB, label warping, encoding."""

from robustclevr.imaging.arrays import decode_npz, encode_npz
from robustclevr.imaging.color import linear_to_srgb8, srgb8_to_linear
from robustclevr.imaging.labels import Footprint, boxes_and_fractions, warp_amodal, warp_labels
from robustclevr.imaging.png import decode_png, encode_png

__all__ = [
    "Footprint",
    "boxes_and_fractions",
    "decode_npz",
    "decode_png",
    "encode_npz",
    "encode_png",
    "linear_to_srgb8",
    "srgb8_to_linear",
    "warp_amodal",
    "warp_labels",
]
