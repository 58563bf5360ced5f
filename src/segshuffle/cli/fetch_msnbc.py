"""Download the MSNBC log (2.3 MB) and verify it by its SHA-256."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from segshuffle.errors import DataError


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("destination", type=Path, help="file to write (gzip)")


def run(options: Namespace) -> str:
    """Fetch the file, and return its path and origin."""
    from segshuffle.datasets.msnbc import LOG

    try:
        url = LOG.download(options.destination)
    except OSError as error:  # a name that the file system does not allow
        raise DataError(
            f"{options.destination}: cannot be written ({error.strerror or error}). Choose another name."
        ) from error
    return f"{options.destination}: verified, from {url}"
