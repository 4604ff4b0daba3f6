"""``python -m robustclevr`` is the same as ``robustclevr``."""

from robustclevr.cli.main import main

if __name__ == "__main__":
    main()
