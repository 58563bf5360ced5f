"""One self-contained page about a run: what was reproduced, what was not, figures, interactive charts, provenance."""

from segshuffle.extras import require

require("pipeline", "The page")
