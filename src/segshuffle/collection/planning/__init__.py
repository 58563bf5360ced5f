"""Questions about plans and their answers, plans in words, and plans as files.

`question` defines questions, and `answer` finds the answer; `foresight` predicts errors of estimates.
"""
