"""Bounds for one shuffled message, compared with proven bounds for the same randomizer, n, epsilon and delta."""
