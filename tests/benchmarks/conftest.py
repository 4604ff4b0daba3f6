"""A benchmark runs ``imagecorruptions_ms.py`` in another environment: it is no test."""

collect_ignore = ["imagecorruptions_ms.py"]
