"""The code on which a job depends: all modules that it imports, directly or not, as one digest.

Snakemake does not notice edits of imported modules. So a job has the digest among its params. If the files were inputs
instead, Snakemake would look at a hundred files after every finished job. Standard library only.
"""

import ast
import functools
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

PACKAGE = "segshuffle"
SOURCE = Path(__file__).parents[2]
#: File -> patterns, relative to its folder, of the files that it finds by a search.
FOUND = {
    "style.py": ("*.mplstyle",),
    "registry.py": ("*.py",),
    "named.py": ("*.py",),
    "manifest.py": ("../studies/*/outputs.py",),
    "build.py": ("assets/*", "../studies/*/report.py"),
}
#: Imports that do not run.
_FOR_ANNOTATIONS = re.compile(rb"^if TYPE_CHECKING:\n(?:[ ].*\n|\n)*", re.MULTILINE)


def digest(modules: Sequence[str], follows: Mapping[str, Collection[str]] | None = None) -> str:
    """Return the SHA-256 of all code that some modules import; an edit changes it.

    `looks` counts only where something is drawn: protocols and accountants import it to declare their looks.

    Parameters
    ----------
    modules : sequence of str
        Modules below the package, such as "studies.limit.compute".
    follows : mapping, optional
        As in `package_files`.
    """
    found = hashlib.sha256()
    files = package_files(modules, follows)
    for file in files:
        if f"{PACKAGE}/pipeline/style.py" in files or file != f"{PACKAGE}/looks.py":
            found.update(file.encode() + _read(SOURCE / file))
    return found.hexdigest()


def package_files(
    modules: Sequence[str], follows: Mapping[str, Collection[str]] | None = None, source: Path = SOURCE
) -> list[str]:
    """List all files of the package that some modules import, directly or not, as paths below `source`, sorted.

    Parameters
    ----------
    modules : sequence of str
        Modules below the package.
    follows : mapping, optional
        Folder of a registry -> names, without ending, of those of its files that are used. All files of other
        registries are used.
    source : Path
        Folder that holds the package.
    """
    found: set[Path] = set()
    queue = {file for module in modules for file in _files_of(f"{PACKAGE}.{module}", source)}
    while queue:
        path = queue.pop()
        if path not in found:
            found.add(path)
            queue |= _imports(path, source) | set(_found_by(path, follows or {}))
    return sorted(path.relative_to(source).as_posix() for path in found)


@functools.cache  # hundreds of jobs depend on the same files
def _read(path: Path) -> bytes:
    return path.read_bytes()


@functools.cache
def _imports(path: Path, source: Path) -> frozenset[Path]:
    """Return the files of the package that one file imports; a package's own __init__ runs on every import below it."""
    if path.suffix != ".py":
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(ast.parse(_FOR_ANNOTATIONS.sub(b"if TYPE_CHECKING:\n pass\n", _read(path)))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(file for name in names for file in _files_of(name, source))


@functools.cache
def _files_of(name: str, source: Path) -> tuple[Path, ...]:
    """Return the files of a dotted name: of the package, of every folder on the way, and of the module itself."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return ()
    stems = [source.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    files = (file for stem in stems for file in (stem.with_suffix(".py"), stem / "__init__.py"))
    return tuple(file for file in files if file.is_file())


def _found_by(path: Path, follows: Mapping[str, Collection[str]]) -> Iterator[Path]:
    """Yield the files that a module finds by search, without the files of a registry that are not used."""
    used = follows.get(path.parent.name) if path.name == "registry.py" else None
    for pattern in FOUND.get(path.name, ()):
        yield from (file.resolve() for file in path.parent.glob(pattern) if used is None or file.stem in used)
