"""One folder per question: what it computes, its figures, its verdicts."""

from segshuffle.extras import require

require("pipeline", "A study")
