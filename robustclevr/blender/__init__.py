"""Plan to pixels, inside the Blender process."""
