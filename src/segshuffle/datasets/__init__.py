"""Populations: who holds which items. The MSNBC log (or its stand-in), synthetic users, or your own transactions.

Nothing here knows about privacy; a `population.Population` is what every protocol is simulated on. Import from the
modules: a rule of the pipeline then depends on those it uses and on no other.
"""
