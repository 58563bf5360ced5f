"""Runtimes from benchmark files as Snakemake writes them."""

import pytest

from segshuffle.reproduction.runtimes import runtimes

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def benchmark(path, seconds, rss):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HEADER}{seconds}\t0:00:01\t{rss}\t9\t9\t9\t0\t0\t50\t1\n")


def test_jobs_are_added_up_by_rule(tmp_path):
    benchmark(tmp_path / "plan/msnbc-n5000-s4.tsv", 1.25, 100.4)
    benchmark(tmp_path / "plan/proven/synthetic-n5000-s4.tsv", 2.5, 90.0)
    benchmark(tmp_path / "aggregate.tsv", 0.5, 80.6)
    assert runtimes(str(tmp_path)).to_dict("records") == [
        {"rule": "aggregate", "jobs": 1, "seconds_total": 0.5, "seconds_longest": 0.5, "peak_rss_mb": 81.0},
        {"rule": "plan", "jobs": 2, "seconds_total": 3.75, "seconds_longest": 2.5, "peak_rss_mb": 100.0},
    ]


@pytest.mark.parametrize("unknown", ["-", "NA"])
def test_a_job_too_short_for_its_memory_to_be_seen_still_counts(tmp_path, unknown):
    benchmark(tmp_path / "msnbc.tsv", 0.01, unknown)
    benchmark(tmp_path / "plan/a.tsv", 0.01, unknown)
    benchmark(tmp_path / "plan/b.tsv", 0.02, 50.0)
    table = runtimes(str(tmp_path)).set_index("rule")
    assert table["jobs"].to_dict() == {"msnbc": 1, "plan": 2}
    assert table["peak_rss_mb"].isna().to_dict() == {"msnbc": True, "plan": False}
