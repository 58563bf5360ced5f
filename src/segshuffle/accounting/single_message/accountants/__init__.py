"""Accountants of one shuffled message: files of functions, with what each declares in ``ACCOUNTANTS``.

`registry` finds the files. No other file names an accountant, and ``segshuffle account``, the referee and the figures
use all of them. `declared` says what a declaration has. The mathematics of larger bounds (the blanket decomposition,
variation ratio) is beside this folder.
"""

from segshuffle.accounting.single_message.accountants.declared import Accountant, Kind, Mechanism
from segshuffle.accounting.single_message.accountants.registry import ACCOUNTANT_LOOKS, ACCOUNTANTS, every

__all__ = ["ACCOUNTANTS", "ACCOUNTANT_LOOKS", "Accountant", "Kind", "Mechanism", "every"]
