"""Error over messages at equal (epsilon, delta): ours beside the protocols of the literature."""
