"""The referee: published upper bounds held against proven lower bounds on the same randomizer, n, epsilon and delta.

`trial` says what is tried, gives the lower bounds and holds every accountant against them, `budgets` does so for users
with unequal budgets, `report` sums up.
"""
