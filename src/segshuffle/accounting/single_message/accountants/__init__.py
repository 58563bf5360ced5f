"""Accountants of one shuffled message, which the files of this folder declare in ``ACCOUNTANTS``.

`registry` finds the files, so no list has to name a new accountant: ``segshuffle account`` and the referee use all of
them. `declared` says what a declaration has. The mathematics of larger bounds (the blanket decomposition,
variation ratio) is beside this folder.
"""

from segshuffle.accounting.single_message.accountants.declared import Accountant, Kind, Mechanism
from segshuffle.accounting.single_message.accountants.registry import ACCOUNTANTS, every

__all__ = ["ACCOUNTANTS", "Accountant", "Kind", "Mechanism", "every"]
