"""One page of made-up results for all tests here."""

import pytest
from results_folder import make_results, read

from segshuffle.reproduction.page.build import build


@pytest.fixture(scope="session")
def page_file(tmp_path_factory):
    """Write a page of made-up results, as its rule does, and return the file."""
    folder = tmp_path_factory.mktemp("page with spaces")
    made = read(make_results(folder / "results", edition="quick", source="stand-in"))
    (folder / "index.html").write_text(build(made.results, made.figures), encoding="utf-8")
    return folder / "index.html"
