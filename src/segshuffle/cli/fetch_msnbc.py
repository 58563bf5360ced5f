"""Download the MSNBC log (2.3 MB) and verify it by its SHA-256."""

import argparse
from pathlib import Path

from segshuffle.errors import DataError, ParameterError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("destination", type=Path, help="file to write (gzip)")
    parser.add_argument("--deadline", type=float, default=30.0, help="most seconds for the download (default 30)")


def run(options: argparse.Namespace) -> str:
    """Fetch the file, and return its path and origin."""
    from segshuffle.datasets.msnbc import LOG

    if not 0 < options.deadline <= 3600:
        raise ParameterError("deadline", options.deadline, "in (0, 3600] seconds")
    try:
        url = LOG.download(options.destination, deadline_seconds=options.deadline)
    except OSError as error:  # a name that the file system does not allow
        raise DataError(
            f"{options.destination}: cannot be written ({error.strerror or error}). Choose another name."
        ) from error
    return f"{options.destination}: verified, from {url}"
