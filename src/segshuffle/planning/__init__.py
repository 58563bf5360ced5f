"""What is asked of a plan and what is answered, a plan in words, and plans as files.

`question` has both values and finds the one for the other; `foresight` says how far off estimates will be.
"""
