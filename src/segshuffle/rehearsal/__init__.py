"""Try a plan on data at hand, say a plan in words, and carry a collection out by files of messages.

`run` rehearses, `chosen_size` suggests the largest set; `tables`, `figures`, `page` and `folder` write it down.
"""
