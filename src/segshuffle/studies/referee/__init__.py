"""The referee: published upper bounds held against proven lower bounds on the same randomizer, n, epsilon and delta.

`cases` says what is tried, `proofs` and `enumeration` give the lower bounds, `trial` holds every accountant against
them, `budgets` does so for users with unequal budgets, `verdict` and `report` sum up.
"""
