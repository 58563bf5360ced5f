"""Privacy numbers of one shuffled message per user."""
