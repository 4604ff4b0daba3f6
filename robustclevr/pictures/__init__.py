"""Existing pictures and their masks: found, read and decoded, whatever they come in."""

from robustclevr.pictures.decode import Mask, Picture, decode_mask, decode_picture
from robustclevr.pictures.source import Entry, PictureOptions, PictureSet

__all__ = [
    "Entry",
    "Mask",
    "Picture",
    "PictureOptions",
    "PictureSet",
    "decode_mask",
    "decode_picture",
]
