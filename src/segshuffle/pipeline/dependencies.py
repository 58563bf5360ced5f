"""Which files of this package a script depends on: the closure of its imports, read from the source.

Snakemake does not notice edits of imported modules; rules list these files as input instead. Standard library only.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGE = "segshuffle"


def package_files(script: Path, *, source: Path) -> list[str]:
    """All files of the package that `script` imports, directly or not, as paths below `source`, sorted.

    Parameters
    ----------
    script : Path
        A Python file outside the package.
    source : Path
        Folder that holds the package (``src``).
    """
    found: set[Path] = set()
    queue = set(_imports(script, source))
    while queue:
        path = queue.pop()
        if path not in found:
            found.add(path)
            queue |= _imports(path, source)
    return sorted(str(path) for path in found)


def _imports(path: Path, source: Path) -> frozenset[Path]:
    """Files of the package that one file imports; a package's own __init__ runs on every import below it."""
    return _parsed(path, source, path.stat().st_mtime_ns) if path.suffix == ".py" else frozenset()


@functools.cache
def _parsed(path: Path, source: Path, modified: int) -> frozenset[Path]:
    """As `_imports`; the pipeline asks for the same files once per rule."""
    names: set[str] = set()
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    files: set[Path] = set()
    for name in names:
        parts = name.split(".")
        if parts[0] == PACKAGE:
            files |= {file for depth in range(1, len(parts) + 1) for file in _file_of(parts[:depth], source)}
    return frozenset(files | _found_by(path))


def _statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All statements that run, at any depth; expressions, most of a tree, hold no imports."""
    for statement in body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from _statements(statement.orelse)
            continue
        yield statement
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from _statements(getattr(statement, part, []))


def _file_of(parts: list[str], source: Path) -> list[Path]:
    """File of a dotted name, if it is a module or a package (and not a name inside one)."""
    module = source.joinpath(*parts).with_suffix(".py")
    package = source.joinpath(*parts, "__init__.py")
    return [candidate for candidate in (module, package) if candidate.is_file()]


def _found_by(path: Path) -> set[Path]:
    """What a module loads by being there: style sheets beside style.py, every module beside registry.py."""
    patterns = {"style.py": "*.mplstyle", "registry.py": "*.py"}
    return set(path.parent.glob(patterns[path.name])) if path.name in patterns else set()
