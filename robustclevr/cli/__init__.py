"""The command line: text in, exit code out."""
