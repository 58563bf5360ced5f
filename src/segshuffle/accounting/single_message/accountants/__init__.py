"""Accountants of one shuffled message, which the files of this folder declare in ``ACCOUNTANTS``.

No list has to name a new one: ``segshuffle account`` and the referee use all of them. `interface` says what a
declaration has. The mathematics of larger bounds (the blanket decomposition, variation ratio) is beside this folder.
"""

from segshuffle.accounting.single_message.accountants.interface import Accountant, Kind, Mechanism
from segshuffle.discovered import discovered
from segshuffle.errors import ConfigError

__all__ = ["ACCOUNTANTS", "Accountant", "Kind", "Mechanism", "every"]


def every(package: str = __name__) -> dict[str, Accountant]:
    """Return all declared accountants by name, in their order.

    Raises
    ------
    ConfigError
        If a file cannot be imported, or two accountants have the same name; names the file.
    """
    accountants: dict[str, Accountant] = {}
    for path, of_file in discovered(package, "ACCOUNTANTS").items():
        for each in of_file:
            if each.name in accountants:
                raise ConfigError(f"{path}: declares the accountant {each.name!r}, as another file does; rename it.")
            accountants[each.name] = each
    return {each.name: each for each in sorted(accountants.values(), key=lambda each: (each.order, each.name))}


ACCOUNTANTS: dict[str, Accountant] = every()
