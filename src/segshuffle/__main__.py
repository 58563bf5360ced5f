"""Run the command line: ``python -m segshuffle``."""

from segshuffle.cli import program

raise SystemExit(program())
