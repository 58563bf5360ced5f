"""A section of the configuration with a path is a dataset: its panels run like all others."""

import json

import pandas as pd
import polars as pl
import pytest
import yaml


def run(checkout, edition, datasets, *asked):
    """Run the tiny configuration with these datasets, and return the folder of the results."""
    config = yaml.safe_load((checkout.folder / "tiny.yaml").read_text())
    (checkout.folder / "own.yaml").write_text(yaml.safe_dump({**config, "edition": edition, "datasets": datasets}))
    checkout.finish("--cores", "2", *(f"results/{edition}/{name}" for name in asked), configfile="own.yaml")
    return checkout.folder / "results" / edition


def test_the_panels_of_a_file_of_ones_own(checkout):
    rows = "".join(f"{user},item-{(user * 5 + k * k) % 9}\n" for user in range(100) for k in range(1 + user % 3))
    pl.read_csv(f"user,item\n{rows}".encode()).write_csv(checkout.folder / "shop.csv.zst", compression="zstd")
    shop = {"path": "shop.csv.zst", "domain_size": 9, "n_users": [60], "set_sizes": [2]}
    table = "panels/published/shop-n60-s2.csv"
    made = run(checkout, "shop", {"shop": shop}, table)
    found = pd.read_csv(made / table)
    assert set(found["dataset"]) == {"shop"}
    assert set(found["source"]) == {"real"}
    assert json.loads((made / "data/shop/source.json").read_text())["origin"] == "shop.csv.zst"


@pytest.mark.exhaustive
def test_the_baskets_of_a_shop_and_the_msnbc_log_as_it_is(checkout, groceries_file, msnbc_file):
    """Panels, figures and the summary of both; no statement of the paper is judged on them."""
    sizes = {"n_users": [2000], "set_sizes": [4]}
    log = {"format": "lines", "skip_lines": 7, "repeated": "merge"}
    datasets = {
        "shop": {"path": str(groceries_file), "domain_size": 169, **sizes},
        "visits": {"path": str(msnbc_file), "domain_size": 17, **log, **sizes},
    }
    figures = [f"figures/panels-{name}-S1{kind}.png" for name in datasets for kind in ("", "-proven")]
    made = run(checkout, "baskets", datasets, *figures, "mse.csv", "claims.csv", "proven-summary.csv")
    assert all((made / name).stat().st_size > 10_000 for name in figures)
    found, claims = (pd.read_csv(made / name) for name in ("mse.csv", "claims.csv"))
    assert set(zip(found["dataset"], found["source"], strict=True)) == {("shop", "real"), ("visits", "real")}
    assert set(claims["verdict"]) == {"not evaluated"}
