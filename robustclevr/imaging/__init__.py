"""Linear to sRGB, label warping, encoding."""

from robustclevr.imaging.arrays import decode_npz, encode_npz
from robustclevr.imaging.color import linear_to_srgb8, srgb8_to_linear, srgb_to_linear
from robustclevr.imaging.encoded import EncodedContext, apply_encoded
from robustclevr.imaging.jpeg import jpeg_round_trip
from robustclevr.imaging.labels import Footprint, boxes_and_fractions, warp_amodal, warp_labels
from robustclevr.imaging.png import decode_png, encode_png
from robustclevr.imaging.similarity import SIMILARITIES, psnr, ssim

__all__ = [
    "SIMILARITIES",
    "EncodedContext",
    "Footprint",
    "apply_encoded",
    "boxes_and_fractions",
    "decode_npz",
    "decode_png",
    "encode_npz",
    "encode_png",
    "jpeg_round_trip",
    "linear_to_srgb8",
    "psnr",
    "srgb8_to_linear",
    "srgb_to_linear",
    "ssim",
    "warp_amodal",
    "warp_labels",
]
