"""Populations: who holds which items. The MSNBC log (or its stand-in), synthetic users, or your own transactions.

No module here computes a privacy number. Studies take a `Population`, rehearsals `Transactions`. Import from the
modules: a rule of the pipeline then depends on those it uses and on no other.
"""
