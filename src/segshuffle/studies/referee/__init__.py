"""Published bounds of one shuffled message held against proven bounds: same randomizer, n, epsilon and delta."""
