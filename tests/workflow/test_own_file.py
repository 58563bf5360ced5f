"""A section of the configuration with a path is a dataset: its panels run like all others."""

import json
import os

import pandas as pd
import polars as pl
import pytest
import yaml


def test_the_panels_of_a_file_of_ones_own(checkout):
    config = yaml.safe_load((checkout.folder / "tiny.yaml").read_text())
    config["edition"] = "shop"
    config["datasets"] = {"shop": {"path": "shop.csv.zst", "domain_size": 9, "n_users": [60], "set_sizes": [2]}}
    rows = "".join(f"{user},item-{(user * 5 + k * k) % 9}\n" for user in range(100) for k in range(1 + user % 3))
    pl.read_csv(f"user,item\n{rows}".encode()).write_csv(checkout.folder / "shop.csv.zst", compression="zstd")
    (checkout.folder / "own.yaml").write_text(yaml.safe_dump(config))
    table = "results/shop/panels/published/shop-n60-s2-S1.csv"
    status, said = checkout.run("--cores", "1", table, configfile="own.yaml")
    assert status == 0, said
    found = pd.read_csv(checkout.folder / table)
    assert set(found["dataset"]) == {"shop"}
    assert set(found["source"]) == {"real"}
    source = json.loads((checkout.folder / "results/shop/data/shop/source.json").read_text())
    assert source["origin"] == "shop.csv.zst"


@pytest.mark.exhaustive
@pytest.mark.skipif(
    not (os.environ.get("SEGSHUFFLE_GROCERIES") and os.environ.get("SEGSHUFFLE_MSNBC")), reason="the data are not here"
)
def test_the_baskets_of_a_shop_and_the_msnbc_log_as_it_is(checkout):
    """Panels, figures and the summary of both; no statement of the paper is judged on them."""
    config = yaml.safe_load((checkout.folder / "tiny.yaml").read_text())
    config["edition"] = "baskets"
    sizes = {"n_users": [2000], "set_sizes": [4]}
    log = {"format": "lines", "skip_lines": 7, "repeated": "merge"}
    config["datasets"] = {
        "groceries": {"path": os.environ["SEGSHUFFLE_GROCERIES"], "domain_size": 169, **sizes},
        "visits": {"path": os.environ["SEGSHUFFLE_MSNBC"], "domain_size": 17, **log, **sizes},
    }
    (checkout.folder / "own.yaml").write_text(yaml.safe_dump(config))
    drawn = [f"panels-{name}-S1{kind}.png" for name in config["datasets"] for kind in ("", "-proven")]
    figures = [f"results/baskets/figures/{name}" for name in drawn]
    tables = [f"results/baskets/{name}" for name in ("mse.csv", "claims.csv", "proven-summary.csv")]
    status, said = checkout.run("--cores", "2", *figures, *tables, configfile="own.yaml")
    assert status == 0, said
    assert all((checkout.folder / name).stat().st_size > 10_000 for name in figures)
    found, claims = (pd.read_csv(checkout.folder / name) for name in tables[:2])
    assert set(zip(found["dataset"], found["source"], strict=True)) == {("groceries", "real"), ("visits", "real")}
    assert set(claims["verdict"]) == {"not evaluated"}
