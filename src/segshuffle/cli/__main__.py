"""``python -m segshuffle.cli``."""

from segshuffle.cli import main

raise SystemExit(main())
