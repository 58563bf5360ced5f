"""A section of the configuration with a path is a dataset: its panels run like all others."""

import json

import pandas as pd
import pyarrow as pa
import yaml


def test_the_panels_of_a_file_of_ones_own(checkout):
    config = yaml.safe_load((checkout.folder / "tiny.yaml").read_text())
    config["datasets"]["shop"] = {"path": "shop.csv.zst", "domain_size": 9, "n_users": [60], "set_sizes": [2]}
    rows = "".join(f"{user},item-{(user * 5 + k * k) % 9}\n" for user in range(100) for k in range(1 + user % 3))
    (checkout.folder / "shop.csv.zst").write_bytes(pa.compress(f"user,item\n{rows}".encode(), "zstd", asbytes=True))
    (checkout.folder / "own.yaml").write_text(yaml.safe_dump(config))
    table = "results/quick/panels/published/shop-n60-s2-S1.csv"
    status, said = checkout.run("--cores", "1", table, configfile="own.yaml")
    assert status == 0, said
    found = pd.read_csv(checkout.folder / table)
    assert set(found["dataset"]) == {"shop"}
    assert set(found["source"]) == {"real"}
    source = json.loads((checkout.folder / "results/quick/data/shop/source.json").read_text())
    assert source["origin"] == "shop.csv.zst"
