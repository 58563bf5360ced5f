"""Try a plan on data that you have.

`run` rehearses by counts, `by_message` message by message, and `set_sizes` chooses the set size. `results` writes the
folder of results, with `figures`. `message_lines` reads and writes messages.
"""
