"""All laws of dummy messages by name: every file of this folder that declares its class as ``LAW``."""

import functools
from collections.abc import Mapping
from typing import Any

from segshuffle.blankets.base import Blanket
from segshuffle.blankets.binomial import Binomial
from segshuffle.discovered import discovered
from segshuffle.errors import ConfigError, ParameterError

#: The simplest law, single dummies, which is the default everywhere; `singles` has the law itself.
SIMPLEST = "poisson"


@functools.cache
def laws(package: str = __name__.rpartition(".")[0]) -> dict[str, type[Blanket]]:
    """Return all laws for which the proof holds: single dummies first, then those with the fewest parameters.

    Raises
    ------
    ConfigError
        If a file cannot be imported, or its law has another name than the file; says which.
    """
    by_name: dict[str, type[Blanket]] = {}
    for path, law in discovered(package, "LAW").items():
        if law.name != path.stem:
            raise ConfigError(f"{path}: declares the law {law.name!r}, but its name must be {path.stem!r}.")
        by_name[law.name] = law
    order = sorted(by_name, key=lambda name: (name != SIMPLEST, len(by_name[name].parameters())))
    return {name: by_name[name] for name in order}


def law_from(values: Mapping[str, Any]) -> Blanket:
    """Return the law that `as_dict` describes: one of `laws`, or the published one.

    Raises
    ------
    ParameterError
        If there is no such law, or it has other parameters.
    """
    name = values.get("name")
    # plans of the paper's protocol need no other law
    law = Binomial if name == Binomial.name else laws().get(name)  # type: ignore[arg-type]
    if law is None:
        raise ParameterError("dummies", name, f"one of {', '.join([*laws(), Binomial.name])}")
    own, needed = {key: value for key, value in values.items() if key != "name"}, law.parameters()
    if set(own) != set(needed) or not all(isinstance(each, int | float) for each in own.values()):
        raise ParameterError(f"dummies {name}", own, f"a number for each of ({', '.join(needed)})")
    return law(**own)


def simplest() -> Blanket:
    """Return the simplest law, which is imported only when it is needed."""
    return laws()[SIMPLEST]()
