"""Say which extra of the package brings a module that is not installed."""

import importlib.util

from segshuffle.errors import MissingExtraError

#: Extra -> those of its modules that this package imports (pyproject.toml names the distributions).
EXTRAS = {
    "data": ("polars",),
    "pipeline": ("pandas", "matplotlib", "joblib", "jsonschema", "yaml", "jinja2", "requests"),
    "pld": ("dp_accounting",),
    "opendp": ("opendp",),
    "crate": ("rocrate",),
}


def require(extra: str, purpose: str, *modules: str) -> None:
    """Raise an error if modules of an extra are not installed, before any of them is imported.

    Parameters
    ----------
    extra : str
        Key of `EXTRAS`.
    purpose : str
        What needs the extra, as the beginning of a sentence.
    *modules
        Names of the modules; by default all of the extra.

    Raises
    ------
    MissingExtraError
        If one of its modules is not installed.
    """
    for module in modules or EXTRAS[extra]:
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError(_sentence(purpose, module, extra))


def translated(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Return the error that names the extra with the missing module, if there is one."""
    missing = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if missing in modules:
            return MissingExtraError(_sentence("This", missing, extra))
    return None


def _sentence(purpose: str, module: str, extra: str) -> str:
    return f"{purpose} needs {module}, which is not installed: pip install 'segshuffle[{extra}]'."
