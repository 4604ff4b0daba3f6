"""Which shard where and when; starts the Blender processes."""
