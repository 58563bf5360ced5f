"""All accountants of one message: every file of this folder that declares some in ``ACCOUNTANTS``."""

import importlib
from pathlib import Path

from segshuffle.accounting.single_message.accountants.declared import Accountant
from segshuffle.errors import ConfigError


def every(folder: Path = Path(__file__).parent, package: str = __name__.rpartition(".")[0]) -> dict[str, Accountant]:
    """Return all declared accountants by name, in their order.

    Raises
    ------
    ConfigError
        If a file cannot be imported, or two accountants have the same name; names the file.
    """
    found: dict[str, Accountant] = {}
    for path in sorted(folder.glob("*.py")):
        if "\nACCOUNTANTS = " not in path.read_text(encoding="utf-8"):
            continue
        try:
            declared = importlib.import_module(f"{package}.{path.stem}").ACCOUNTANTS
        except Exception as error:
            raise ConfigError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
        for each in declared:
            if each.name in found:
                raise ConfigError(f"{path}: declares the accountant {each.name!r}, as another file does; rename it.")
            found[each.name] = each
    return {each.name: each for each in sorted(found.values(), key=lambda each: (each.order, each.name))}


ACCOUNTANTS: dict[str, Accountant] = every()
