"""What is asked for is a value: it cannot be changed, and what is costly is made once."""

import importlib
import inspect
import pkgutil

import segshuffle.accounting

MODULES = [
    importlib.import_module(each.name)
    for each in pkgutil.walk_packages(segshuffle.accounting.__path__, "segshuffle.accounting.")
]
#: Classes that hold work in progress, or a law of their own.
MUTABLE = {
    "AccuracyError",
    "EchoPair",
    "FullView",
    "PoissonBinomialLaw",
    "ReductionPair",
    "RestLaws",
    "_Aliases",
    "_Pieces",
}
#: What searches, levels and ends of intervals come back to.
REMEMBERED = {
    "_atoms",
    "_coarse",
    "_joint",
    "_log_delta",
    "_made_once",
    "_marks",
    "_ratio",
    "_shares",
    "_states",
    "_tail",
    "_window_law",
    "_windowed",
    "count_grid",
    "discrete_laplace_epsilon",
    "largest_shift",
    "sum_of_binomials",
}


def test_whatever_is_no_work_in_progress_is_frozen():
    found = set()
    for module in MODULES:
        for name, each in vars(module).items():
            if not inspect.isclass(each) or each.__module__ != module.__name__ or getattr(each, "_is_protocol", False):
                continue
            parameters = vars(each).get("__dataclass_params__")
            if not issubclass(each, tuple) and not (parameters and parameters.frozen):
                found.add(name)
    assert found == MUTABLE


def test_what_is_costly_is_remembered():
    found = {
        name
        for module in MODULES
        for name, each in vars(module).items()
        if hasattr(each, "cache_info") and each.__module__ == module.__name__
    }
    assert found == REMEMBERED
