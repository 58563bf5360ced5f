"""The name of the simplest law, single dummies, which is the default everywhere."""

from segshuffle.blankets.poisson import POISSON

SINGLES = POISSON
