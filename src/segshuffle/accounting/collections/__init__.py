"""Privacy numbers of a collection with many messages per user."""
