"""Named datasets, one YAML file each."""
