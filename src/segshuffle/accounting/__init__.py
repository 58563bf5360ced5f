"""Numbers of privacy: pure functions of public parameters, without randomness and without files."""
