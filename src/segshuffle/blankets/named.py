"""All laws of dummy messages by name, found in the files of this folder."""

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from segshuffle.blankets.base import Blanket
from segshuffle.blankets.singles import SINGLES
from segshuffle.errors import ParameterError


def laws() -> dict[str, type[Blanket]]:
    """Return all laws for which the proof holds: single dummies first, then those with the fewest parameters."""
    return {name: law for name, law in _every_law().items() if law.proven}


@functools.cache
def _every_law() -> dict[str, type[Blanket]]:
    for path in Path(__file__).parent.glob("*.py"):
        importlib.import_module(f"{__package__}.{path.stem}")
    found = sorted(Blanket.__subclasses__(), key=lambda law: (len(law.parameters()), law.name))
    return {law.name: law for law in (type(SINGLES), *found)}


def law_from(values: Mapping[str, Any]) -> Blanket:
    """Return the law that `as_dict` describes.

    Raises
    ------
    ParameterError
        If there is no such law, or it has other parameters.
    """
    known, name = _every_law(), values.get("name")
    if name not in known:
        raise ParameterError("blanket", name, f"one of {', '.join(known)}")
    own, needed = {key: value for key, value in values.items() if key != "name"}, known[name].parameters()
    if set(own) != set(needed) or not all(isinstance(each, int | float) for each in own.values()):
        raise ParameterError(f"blanket {name}", own, f"a number for each of ({', '.join(needed)})")
    return known[name](**own)
