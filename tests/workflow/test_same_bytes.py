"""The same bytes on every x86-64 processor: with its newest instructions on offer, and with none of them."""

import platform

import numpy as np
import pytest

from segshuffle.reproduction.processors import NEWER_INSTRUCTIONS, job_environment

pytestmark = [
    pytest.mark.pipeline,
    pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="about x86-64 processors"),
]


#: Instructions that NumPy uses where a processor has them: those that this one has, and the others.
OFFERED = np.show_config(mode="dicts")["SIMD Extensions"]


def test_all_that_numpy_may_choose_is_named():
    assert set(NEWER_INSTRUCTIONS) == {*OFFERED.get("found", ()), *OFFERED.get("not found", ())}, np.__version__


def test_the_shipped_numpy_reads_these_variables():
    assert set(job_environment()) >= {"NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE"}


@pytest.mark.exhaustive
def test_every_table_plan_and_figure_has_the_same_bytes(checkout, new_checkout, monkeypatch, tmp_path):
    """Figures 2-6, the proven ones, audit, levels, amplification and referee are the same, on four cores as on two."""
    if not (newer := OFFERED.get("found")):
        pytest.skip("this processor has nothing newer to offer")
    made = checkout.copied(tmp_path / "a copy")
    made.finish("--cores", "2", "all", "amplification")
    offered = made.results()
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", " ".join(newer))
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    made = new_checkout()
    made.finish("--cores", "4", "all", "amplification")
    bare = made.results()
    assert len(offered) > 100
    assert offered.keys() == bare.keys()
    assert [name for name in offered if offered[name] != bare[name]] == []
