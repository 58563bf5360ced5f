"""What the tests of all studies share."""

import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def every_figure_is_closed():
    yield
    plt.close("all")
