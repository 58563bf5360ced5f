"""The SQL of docs/collect.md counts as `estimate` does, and refuses no less."""

import io
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest
import sqlglot

from segshuffle.collection.messages.message_lines import read_counts
from segshuffle.errors import DataError


@pytest.fixture(scope="module")
def queries(root):
    """The queries of the document: DuckDB's, Spark's, and the table `sent` of both for signed messages."""
    return re.findall(r"```sql\n(.*?)```", (root / "docs/collect.md").read_text(encoding="utf-8"), re.DOTALL)


def signed(query, table):
    """Replace the table `sent`, as the document says."""
    value = "value" if "value" in query else "message"
    return re.sub(r"SELECT \w+ AS name, count\(\*\) AS n", table.replace("message", value), query)


def by_duckdb(query, lines):
    """Run DuckDB's own query on a file, in the folder of the test."""
    Path("messages.txt").write_text(lines)
    duckdb.sql(query)
    return Path("counts.csv").read_bytes()


def by_spark(query, lines):
    """Run Spark's query, translated, on a table of lines."""
    with duckdb.connect() as connection:
        connection.sql("CREATE SCHEMA text; CREATE TABLE text.messages (value VARCHAR)")
        connection.executemany("INSERT INTO text.messages VALUES (?)", [[line] for line in lines.splitlines()])
        rows = connection.sql(sqlglot.transpile(query, read="spark", write="duckdb")[0]).fetchall()
    return "".join(["item,count\n", *(f"{item},{count}\n" for item, count in rows)]).encode()


@pytest.mark.quick("by_duckdb-0-False", "by_spark-1-True")
@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize(("engine", "number"), [(by_duckdb, 0), (by_spark, 1)])
def test_a_database_counts_what_estimate_counts(queries, tmp_path, monkeypatch, engine, number, signs):
    monkeypatch.chdir(tmp_path)
    query = signed(queries[number], queries[2]) if signs else queries[number]
    query = query.replace("range(3)", "range(12)").replace("3 - 1", "12 - 1")
    rng = np.random.default_rng(3)
    drawn = zip(rng.choice(["+", "-"] if signs else [""], 500), rng.integers(0, 11, 500), strict=True)
    lines = "#9f86d081884c7d65-1\n" + "".join(f"{sign}{item}\n" for sign, item in drawn) + "#9f86d081884c7d65-1\n"
    expected = read_counts(io.BytesIO(lines.encode()), "f", 12, signed=signs)
    found = read_counts(io.BytesIO(engine(query, lines)), "f", 12, signed=signs)
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.collections == expected.collections == {"#9f86d081884c7d65-1": 2}
    assert found.counts[11] == 0
    for odd in ("", "x", "#x", "12", "01", " 1", "+-1" if signs else "+1", '"1"', "1,1"):
        with pytest.raises(DataError, match="is no line ITEM,COUNT"):
            read_counts(io.BytesIO(engine(query, f"{lines}{odd}\n")), "f", 12, signed=signs)
