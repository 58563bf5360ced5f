"""One self-contained page about a run: what came out, what did not, every figure, interactive charts, provenance."""

from segshuffle.extras import require

require("pipeline", "The page")
