"""A section of the configuration with a path is a dataset: its panels run like all others."""

import json

import pandas as pd
import polars as pl
import pytest
import yaml


def run(checkout, edition, changes, *asked):
    """Run the tiny configuration with some keys changed, and return the folder of the results."""
    config = yaml.safe_load((checkout.folder / "tiny.yaml").read_text())
    (checkout.folder / "own.yaml").write_text(yaml.safe_dump({**config, "edition": edition, **changes}))
    checkout.finish("--cores", "2", *(f"results/{edition}/{name}" for name in asked), configfile="own.yaml")
    return checkout.folder / "results" / edition


def test_the_panels_of_a_file_of_ones_own(checkout):
    rows = "".join(f"{user},item-{(user * 5 + k * k) % 9}\n" for user in range(100) for k in range(1 + user % 3))
    pl.read_csv(f"user,item\n{rows}".encode()).write_csv(checkout.folder / "shop.csv.zst", compression="zstd")
    shop = {"path": "shop.csv.zst", "domain_size": 9, "n_users": [60], "set_sizes": [2]}
    table = "panels/published/shop-n60-s2.csv"
    made = run(checkout, "shop", {"datasets": {"shop": shop}}, table)
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
    made = run(checkout, "baskets", {"datasets": datasets}, *figures, "mse.csv", "claims.csv", "proven-summary.csv")
    assert all((made / name).stat().st_size > 10_000 for name in figures)
    found, claims = (pd.read_csv(made / name) for name in ("mse.csv", "claims.csv"))
    assert set(zip(found["dataset"], found["source"], strict=True)) == {("shop", "real"), ("visits", "real")}
    assert set(claims["verdict"]) == {"not evaluated"}


@pytest.mark.exhaustive
def test_a_run_of_the_paper_alone_makes_a_page_that_names_no_other_part(checkout):
    """A grid of m for one dataset holds for its panels alone."""
    config = yaml.safe_load((checkout.folder / "tiny.yaml").read_text())
    config["datasets"]["msnbc"]["blanket_grid"] = {"low": 1.0, "high": 4.0, "points": 2, "include": []}
    made = run(checkout, "few", {"parts": ["paper"], "datasets": config["datasets"]})
    table = pd.read_csv(made / "mse.csv")
    assert set(table["accounting"]) == {"published"}
    grids = table[table["role"] == "grid"].groupby("dataset")["blanket_per_user"].unique()
    assert set(grids["msnbc"]) == {1.0, 4.0}
    assert set(grids["synthetic"]) == {0.3, 2.0, 10.0}
    page = (made / "index.html").read_text()
    assert "What was reproduced" in page
    assert not [title for title in ("What the audit found", "What the proven protocol gains") if title in page]
