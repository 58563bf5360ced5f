"""The code of a run: a digest of what a rule depends on, since Snakemake does not notice edits of imports; its commit.

Standard library only: the Snakefile imports this module.
"""

import hashlib
import subprocess
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
#: No script imports this module, so it is in no digest.
APART = ("__main__.py",)
#: What every script imports, beside the other single modules.
CORE = (
    "drawing/__init__.py",
    "reproduction/__init__.py",
    "reproduction/design.py",
    "reproduction/jobs.py",
    "reproduction/numbers.py",
    "reproduction/processors.py",
    "reproduction/rows.py",
    "reproduction/scenarios.py",
    "reproduction/tables.py",
    "reproduction/captions.py",
    "reproduction/studies/__init__.py",
)


def files_of(*parts: str) -> list[Path]:
    """List the files that every script imports, and those of some parts of the package.

    Parameters
    ----------
    *parts : str
        Folders (with all below them, but no captions.yaml) or files, relative to the package: "accounting",
        "reproduction/studies/planning.py".

    Raises
    ------
    FileNotFoundError
        If there is no such part.
    """
    paths = {path for path in PACKAGE.glob("*.py") if path.name not in APART}
    for part in (*CORE, *parts):
        path = PACKAGE / part
        if not path.exists():
            raise FileNotFoundError(f"{path}: a rule names this part of the package in code_of, but it does not exist")
        # rules take the words that they need as captions: a new wording computes nothing again
        inside = {each for each in path.rglob("*") if each.is_file() and each.name != "captions.yaml"}
        paths |= {path} if path.is_file() else inside
    return sorted(path for path in paths if path.suffix != ".pyc")


def code_of(*parts: str) -> str:
    """Return the SHA-256 of some parts of the package, and of what every script imports; an edit changes it.

    Parameters
    ----------
    *parts : str
        As in `files_of`.
    """
    digest = hashlib.sha256()
    for path in files_of(*parts):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def commit_of(root: Path) -> str:
    """Return the commit of the code in `root`, with -dirty if files differ; "unknown" outside a checkout of its own."""
    return _git(root, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")


def date_of(root: Path) -> str:
    """Return the day of the commit of the code in `root`; "unknown" outside a checkout of its own."""
    return _git(root, "show", "--no-patch", "--format=%cs")


def _git(root: Path, *command: str) -> str:
    """Return what git says of the checkout in `root`, or "unknown"."""
    # naming the folder's own .git: a copy inside another repository would be given that one's commit
    place = [f"--git-dir={root}/.git", f"--work-tree={root}"]
    try:
        done = subprocess.run(["git", *place, *command], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
