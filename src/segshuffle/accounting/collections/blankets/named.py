"""Every blanket by its name, as plans write it down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segshuffle.accounting.collections.blankets.base import Blanket
from segshuffle.accounting.collections.blankets.clustered import Clustered
from segshuffle.accounting.collections.blankets.poisson import POISSON, Poisson
from segshuffle.accounting.collections.blankets.signed import Signed
from segshuffle.errors import ParameterError

_MAKERS: Mapping[str, Any] = {"poisson": Poisson, "clustered": Clustered, "signed": Signed}


def blanket_from(values: Mapping[str, Any] | None) -> Blanket:
    """Inverse of `Blanket.as_dict`; nothing stands for the Poisson blanket.

    Raises
    ------
    ParameterError
        If there is no such blanket.
    """
    if values is None:
        return POISSON
    if values.get("name") not in _MAKERS:
        raise ParameterError("blanket", values.get("name"), f"one of {', '.join(_MAKERS)}")
    made: Blanket = _MAKERS[values["name"]](**{key: value for key, value in values.items() if key != "name"})
    return made
