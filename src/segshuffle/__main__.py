"""Run the command line: ``python -m segshuffle``."""

from segshuffle.cli import main

raise SystemExit(main())
