"""Exit codes of the command line."""

DONE = 0
INCOMPLETE = 1
"""The dataset is incomplete or fails verification, or the run was stopped."""
USAGE = 2
"""The command or a spec is wrong."""
ENVIRONMENT = 3
"""This machine lacks something: bpy, a device, a driver."""
