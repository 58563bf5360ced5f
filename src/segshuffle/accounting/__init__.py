"""Privacy numbers: pure functions of public parameters, without randomness or files."""
