"""The data of a run: a stand-in never takes the place of real data, and all that can be downloaded is tried."""

import numpy as np
import pytest

from segshuffle.datasets.interface import Dataset, DataSource
from segshuffle.errors import DataError, FetchError
from segshuffle.reproduction import data


def declare(monkeypatch, **parts):
    """Let every section be a dataset with these parts."""
    made = Dataset("shop", "Shop", domain_size=None, population=None, given="SEGSHUFFLE_SHOP", **parts)
    monkeypatch.setattr(data, "dataset_of", lambda name: made)
    return made


@pytest.mark.parametrize("kind", ["real", "stand-in", None])
def test_a_stand_in_never_takes_the_place_of_real_data(monkeypatch, tmp_path, kind):
    source = DataSource("stand-in", None, "drawn", "no network")
    declare(monkeypatch, obtain=lambda section, place: (np.zeros((2, 3)), source))
    earlier = tmp_path / "source.json"
    if kind:
        earlier.write_text(f'{{"kind": "{kind}"}}')
    if kind == "real":
        with pytest.raises(DataError, match=r"made from the real data of shop.*\(no network\).*by SEGSHUFFLE_SHOP"):
            data.obtain(None, name="shop", section={}, seed=1, earlier=earlier)
    else:
        assert data.obtain(None, name="shop", section={}, seed=1, earlier=earlier)[1]["kind"] == "stand-in"


def test_refreshing_tries_every_dataset_and_lists_what_failed(monkeypatch):
    def download(section, cache, log):
        if section["broken"]:
            raise FetchError(f"{section['broken']} could not be had")

    declare(monkeypatch, refresh=download)
    data.refresh({"a": {"broken": ""}})
    with pytest.raises(FetchError, match=r"^one could not be had\ntwo could not be had$"):
        data.refresh({"a": {"broken": "one"}, "b": {"broken": ""}, "c": {"broken": "two"}})
