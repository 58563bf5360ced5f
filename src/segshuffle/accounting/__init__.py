"""Privacy numbers: pure functions of public parameters, without randomness and files."""
