"""A collection before it begins: the problem, what users send, what is fixed, and the planner that fixes it."""
