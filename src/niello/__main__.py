"""Runs the command line: ``python -m niello``."""

from niello.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
