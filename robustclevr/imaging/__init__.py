"""Linear to sRGB, label warping, encoding."""
