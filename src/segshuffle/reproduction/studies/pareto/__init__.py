"""Error over messages at equal (epsilon, delta): our protocol and those of the literature."""
