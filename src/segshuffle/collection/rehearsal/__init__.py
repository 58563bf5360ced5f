"""Try a plan on data that you have.

`run` rehearses by counts, `by_message` message by message. `set_sizes` chooses the set size, and `targets` finds plans
that reach an error on the data. `results` writes the folder of results, with `figures`.
"""
