"""All laws of dummy messages by name, found in the files of this folder."""

import functools
import importlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from segshuffle.blankets.base import Blanket
from segshuffle.blankets.binomial import BINOMIAL, Binomial
from segshuffle.blankets.singles import SINGLES
from segshuffle.errors import ParameterError

Dummies = Blanket | Binomial


@functools.cache
def laws() -> dict[str, type[Blanket]]:
    """Return all laws of dummy messages, single ones first, then those with the fewest parameters."""
    for path in Path(__file__).parent.glob("*.py"):
        importlib.import_module(f"{__package__}.{path.stem}")
    found = sorted(Blanket.__subclasses__(), key=lambda law: (len(_parameters(law)), law.name))
    return {law.name: law for law in (type(SINGLES), *found)}


def _parameters(law: type[Blanket]) -> list[str]:
    return [each.name for each in fields(law)]  # type: ignore[arg-type]


def law_from(values: Mapping[str, Any]) -> Dummies:
    """Return the law that `as_dict` describes; it may be the binomial one of Algorithm 2.

    Raises
    ------
    ParameterError
        If there is no such law, or it has other parameters.
    """
    if values == BINOMIAL.as_dict():
        return BINOMIAL
    name, own = values.get("name"), {key: value for key, value in values.items() if key != "name"}
    if name not in laws():
        raise ParameterError("blanket", name, f"one of {', '.join(laws())}")
    law = laws()[name]
    needed = _parameters(law)
    if set(own) != set(needed) or not all(isinstance(each, int | float) for each in own.values()):
        raise ParameterError(f"blanket {name}", own, f"a number for each of ({', '.join(needed)})")
    return law(**own)
