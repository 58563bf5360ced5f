"""How the accountants of one message are drawn, the same in every figure, in the order of the legend."""

from __future__ import annotations

from segshuffle.accounting.single_message.accountants.declared import SOLID, look
from segshuffle.accounting.single_message.accountants.registry import ACCOUNTANTS
from segshuffle.looks import Look

#: Every accountant's own look, and that of the one curve that is no accountant's.
ACCOUNTANT_LOOKS: dict[str, Look] = {name: each.look for name, each in ACCOUNTANTS.items()} | {
    "gparv": look("Distribution function (exact)", "blue", "", SOLID)
}
