"""Accountants of one shuffled message: files of functions, with what each declares in ``ACCOUNTANTS``.

`registry` finds the files: one needs to be named nowhere else to be asked by ``segshuffle account``, tried by the
referee and drawn. `declared` says what a declaration holds. Bounds that are more than one file (the blanket
decomposition, variation ratio) have their mathematics beside this folder.
"""

from segshuffle.accounting.single_message.accountants.declared import Accountant, Kind, Mechanism
from segshuffle.accounting.single_message.accountants.registry import ACCOUNTANT_LOOKS, ACCOUNTANTS, every

__all__ = ["ACCOUNTANTS", "ACCOUNTANT_LOOKS", "Accountant", "Kind", "Mechanism", "every"]
