"""CLEVR scenes: what stands where, seen from which camera, under which lights."""
