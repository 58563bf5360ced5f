"""Single dummies, the simplest law: what is meant where none is named, said here alone."""

from segshuffle.blankets.poisson import POISSON

SINGLES = POISSON
