"""One page about a run, without other files: what was reproduced, what was not, figures, charts, provenance."""

from segshuffle.extras import require

require("pipeline", "The page")
