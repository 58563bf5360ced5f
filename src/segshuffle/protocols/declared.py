"""What the file of a protocol says of its methods, for everybody who plans, simulates, draws or judges them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segshuffle.looks import Look

if TYPE_CHECKING:
    from segshuffle.protocols.base import Method

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Declared:
    """One method of a protocol; a file lists its methods in ``METHODS``.

    Options that the configuration may set are in ``OPTIONS`` (published methods) and ``PROVEN_OPTIONS``, each with its
    JSON schema, description and default.

    Parameters
    ----------
    name : str
        Identifier in the configuration, tables and file names. A literal: the configuration is checked without
        importing the file.
    look : Look or str
        How it is drawn. A text alone is its legend entry; colour, marker and dashes are then ones that nobody has.
    make : callable
        Returns the method, given the file's options for its accounting (a mapping with a value for every key). A
        proven method is given the keys of the section ``proven`` besides.
    accounting : str
        "published" or "proven": which of the two kinds of privacy numbers the method is planned with.
    role : str
        "curve": drawn over m; "competitor": one number per panel; "reference": not a protocol of the shuffle model;
        "variant": a curve that runs where the configuration names it (``proven.variants``);
        "compared": not in the panels, only where all protocols are compared.
    in_paper : bool
        Whether it is one of the competitors of the paper; no other enters the verdicts on the paper's statements.
    detail : str
        What the legend entry adds, with fields from the plan's parameters, such as " (ε = {local_epsilon:g})".
    """

    name: str
    look: Look | str
    make: Callable[[Options], Method]
    accounting: str = "published"
    role: str = "competitor"
    in_paper: bool = False
    detail: str = ""
