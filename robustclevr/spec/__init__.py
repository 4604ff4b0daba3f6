"""Text to valid spec: YAML in, frozen records out, every error at once with its line."""
