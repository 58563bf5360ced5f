"""How the accountants of one message are drawn, the same in every figure; proven ones say so in their labels."""

from __future__ import annotations

from segshuffle.looks import DASHES, PALETTE, Dashes, Look

_SOLID, _DASHED, _DOTTED, _DASH_DOTTED, _SHORT, _LONG, _SPARSE = DASHES


def _look(label: str, color: str, marker: str, dashes: Dashes) -> Look:
    return Look(label, PALETTE[color], marker, dashes)


#: In the order of the legend. Lower bounds have no marker; no two share marker and dashes.
ACCOUNTANT_LOOKS: dict[str, Look] = {
    "blanket": _look("Blanket, numerical (proven)", "blue", "o", _SOLID),
    "blanket-lower": _look("Lower bound, two datasets (proven)", "black", "", _DOTTED),
    "standard-clone": _look("Standard clone (proven)", "orange", "s", _DASHED),
    "stronger-clone": _look("Stronger clone (published)", "purple", "v", _SHORT),
    "hoeffding": _look("Blanket, Hoeffding (proven)", "sky", "^", _DASH_DOTTED),
    "bennett": _look("Blanket, Bennett (proven)", "green", "D", _LONG),
    "tails-general": _look("Privacy blanket, general (proven)", "grey", "x", _DASHED),
    "tails-specific": _look("Privacy blanket, specific (proven)", "green", "<", _LONG),
    "erlingsson": _look("Erlingsson et al. (proven)", "wine", "*", _SHORT),
    "variation-ratio": _look("Variation ratio (published)", "vermilion", "P", _SOLID),
    "variation-lower": _look("Variation ratio, lower bound", "dark-grey", "", _SPARSE),
    "variation-ratio-closed-form": _look("Variation ratio, analytic (published)", "olive", "X", _DASH_DOTTED),
    "variation-asymptotic": _look("Variation ratio, asymptotic (published)", "sky", ">", _DASHED),
    "separate-best": _look("Separate, best (published)", "grey", "s", _LONG),
    "separate-worst": _look("Separate, worst (published)", "dark-grey", "D", _SHORT),
    "parallel-basic": _look("Parallel, basic (published)", "purple", "v", _DASHED),
    "parallel-advanced": _look("Parallel, advanced (published)", "orange", "P", _SHORT),
    "personalized": _look("Personalised bound (published)", "indigo", "h", _SOLID),
    "personalized-reduction": _look("Its reduction, exact (published)", "black", "d", _DOTTED),
    "chen-cao-ge": _look("Chen, Cao, Ge (asymptotic)", "teal", "p", _DASHED),
    "liu-2023": _look("Liu et al. 2023 (published)", "wine", "*", _DASH_DOTTED),
    "gparv": _look("Distribution function (exact)", "blue", "", _SOLID),
}
