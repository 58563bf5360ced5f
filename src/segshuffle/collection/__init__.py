"""A collection of your own, from the question to the estimates: planned, rehearsed and carried out."""
