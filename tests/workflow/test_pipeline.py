"""The pipeline itself: what it makes, that it is the same every time, and what happens when something is wrong."""

import collections
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess

import pandas as pd
import pytest
import yaml

from segshuffle.datasets.population import load_population
from segshuffle.files import sha256_of

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

FIGURES = ("fig2", "fig3", "fig4", "fig5", "fig6", "summary")
FORMATS = ("pdf", "svg", "png")
#: Jobs of some rules in a whole run.
JOBS = {"dataset": 1, "population": 2, "plan": 6, "simulate": 4, "figure": 12, "aggregate": 1, "claims": 1}
TINY_METHODS = ("subexp-local", "subexp-shuffle", "mm", "sepmm", "weighted-sepmm", "inverse-variance-sepmm")


# --- a run -------------------------------------------------------------------------------------------------------


def test_a_run_makes_everything(checkout):
    for name in ("mse.csv", "claims.csv", "claims.md", "provenance.json", "config.yaml", "CONTENTS.md", "runtimes.csv"):
        assert (checkout.out / name).stat().st_size > 0, name
    figures = {f"{figure}.{suffix}" for figure in FIGURES for suffix in FORMATS}
    assert figures <= {path.name for path in (checkout.out / "figures").iterdir()}
    panels = list((checkout.out / "panels").rglob("*.csv"))
    assert len(panels) == 4, "2 populations, published and proven"
    table = pd.read_csv(checkout.out / "panels/published/msnbc-n200-s2.csv")
    assert set(table["method"]) == {"segmented", *TINY_METHODS}
    assert checkout.leftovers() == []


def test_every_job_leaves_a_log_and_a_benchmark(checkout):
    logs = {str(path.relative_to(checkout.out / "logs").with_suffix("")) for path in checkout.out.rglob("*.log")}
    timed = checkout.out.rglob("benchmarks/**/*.tsv")
    benchmarks = {str(path.relative_to(checkout.out / "benchmarks").with_suffix("")) for path in timed}
    assert logs == benchmarks
    jobs = collections.Counter(name.split("/")[0] for name in logs)
    assert JOBS.items() <= jobs.items()


def test_the_table_has_every_row_once(checkout):
    table = pd.read_csv(checkout.out / "mse.csv")
    panel = ["accounting", "dataset", "n_users", "set_size", "split"]
    assert not table.duplicated([*panel, "method", "role", "max_messages", "blanket_per_user"]).any()
    assert set(table["repetitions"]) == {4}
    assert set(table["kind"]) <= {"published", "exact", "upper"}
    grid = {0.3, 2.0, 10.0}
    curves = table[table["role"] == "grid"]
    assert set(curves["blanket_per_user"]) == grid
    # 2 datasets x 3 splits; one curve published and three proven; the best m of ours and 6 competitors
    assert len(curves) == 6 * len(grid) * 4
    published = table[table["accounting"] == "published"]
    assert len(published[published["role"] == "best"]) == 6 * (1 + 6)


def test_a_stand_in_is_named_everywhere(checkout):
    table = pd.read_csv(checkout.out / "mse.csv")
    assert set(table.loc[table["dataset"] == "msnbc", "source"]) == {"stand-in"}
    assert set(table.loc[table["dataset"] == "synthetic", "source"]) == {"synthetic"}
    assert "msnbc (stand-in)" in checkout.text("claims.md")
    record = json.loads(checkout.text("provenance.json"))["data"]["msnbc"]
    assert record["kind"] == "stand-in"
    assert "switched off" in record["reason"]
    assert "a STAND-IN" in checkout.text("CONTENTS.md")
    for figure in ("fig2", "fig4", "summary"):
        drawn = checkout.text(f"figures/{figure}.svg")
        assert "MSNBC(stand-in)" in letters(drawn), figure
    for figure in ("fig3", "fig5", "fig6"):
        assert "stand-in" not in checkout.text(f"figures/{figure}.svg")
    assert "STAND-IN" in checkout.text("logs/dataset/msnbc.log")


def letters(svg):
    """Return the text of an SVG without tags and spaces: a title with mathematics is stored letter by letter."""
    return "".join(re.sub(r"<!--.*?-->|<[^>]*>", "", svg, flags=re.DOTALL).split())


def test_provenance_has_the_hash_of_every_output_and_no_place_on_this_machine(checkout):
    text = checkout.text("provenance.json")
    record = json.loads(text)
    expected = {"mse.csv", "claims.csv", "claims.md"} | {f"figures/{f}.{s}" for f in FIGURES for s in FORMATS}
    assert expected <= set(record["outputs"])
    for name, digest in record["outputs"].items():
        assert sha256_of(checkout.out / name) == digest, name
    assert str(checkout.folder) not in text
    effective = yaml.safe_load(checkout.text("config.yaml"))
    assert effective == yaml.safe_load((checkout.folder / "tiny.yaml").read_text())


def test_a_second_run_has_nothing_to_do(checkout):
    assert "Nothing to be done" in checkout.finish("--cores", "2")


def test_a_run_killed_twenty_times_ends_with_the_same_bytes(checkout, new_checkout):
    """After a SIGKILL to everything at a random moment `make reproduce` goes on: no half-written file is ever read.

    This run has one core, and the other run had two; test_same_bytes.py takes four.
    """
    made, moments, killed = new_checkout(), random.Random(20), 0
    reproduce = {"by": ("bash", "workflow/reproduce.sh")}
    while killed < 20:
        with made.started("--cores", "1", **reproduce) as run:
            # later runs are killed later, so that the longest job can end
            try:
                run.communicate(timeout=moments.uniform(1.0, 6.0 + 0.7 * killed))
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                killed += 1
                continue
        assert run.returncode == 0
        shutil.rmtree(made.out / "figures")  # it ended too soon: draw again
    made.finish("--cores", "1", **reproduce)
    assert made.leftovers() == []
    assert made.results() == checkout.results()
    assert "Nothing to be done" in made.finish("--cores", "1")


# --- targets -----------------------------------------------------------------------------------------------------


@pytest.mark.quick(0)
@pytest.mark.parametrize(
    ("target", "jobs"),
    [
        ("fig2", {"dataset": 1, "population": 1, "plan": 2, "simulate": 1, "figure": 1, "fig2": 1}),
        ("fig4", {"dataset": 1, "population": 1, "plan": 2, "simulate": 1, "figure": 1, "fig4": 1}),
        ("fig6", {"population": 1, "plan": 2, "simulate": 1, "figure": 1, "fig6": 1}),
    ],
)
def test_one_figure_runs_its_own_panels_only(fresh, target, jobs):
    assert fresh.would_run(target) == jobs


@pytest.fixture(scope="module")
def fresh(new_checkout):
    """Return a copy in which nothing has run; tests leave it so."""
    return new_checkout()


def test_docs_are_drawn_from_real_data_only(checkout):
    """The check for real data is part of the target; with a stand-in it ends the run, and says what to do."""
    assert checkout.would_run("docs_figures", configfile="config/config.yaml")["only_real"] == 1
    status, said = checkout.run("--cores", "1", "only_real")
    assert status != 0
    assert "docs/ must show the real data, but the files named above describe a stand-in" in said
    assert "data/msnbc/source.json" in said
    assert not (checkout.out / "data/only-real.txt").exists()


# --- what is wrong -----------------------------------------------------------------------------------------------


@pytest.mark.quick(0)
def test_an_invalid_configuration_is_refused_before_any_job(fresh):
    with fresh.configured("levels", [2.0, 1.0, 0.5]), fresh.configured("splits.S1", [0.5, 0.5, 0.5]):
        status, said = fresh.run("--cores", "1")
    assert status != 0
    assert "levels = [2.0, 1.0, 0.5] is not allowed: the levels must be strictly increasing" in said
    assert "splits.S1 = [0.5, 0.5, 0.5] is not allowed: the shares must sum to 1" in said
    assert "Traceback" not in said
    assert not fresh.out.exists()


@pytest.mark.exhaustive
def test_a_wrong_msnbc_file_fails_with_both_hashes_and_leaves_nothing(new_checkout, tmp_path):
    wrong = tmp_path / "my sessions.seq"
    wrong.write_bytes(b"1 2 3\n")
    made = new_checkout()
    status, said = made.run("--cores", "1", "results/quick/populations/msnbc-n200-s2.npz", msnbc=wrong)
    assert status != 0
    assert sha256_of(wrong) in said
    assert re.search(r"expected is [0-9a-f]{64}", said)
    assert "Get the file again" in said
    assert not list((made.out / "data").glob("*"))
    assert not list(made.out.rglob("*.npz"))
    assert made.leftovers() == []
    assert "Traceback" in made.text("logs/dataset/msnbc.log"), "the log has the details"


@pytest.mark.exhaustive
def test_the_real_log_is_used_where_it_is_given(new_checkout, msnbc_file):
    made = new_checkout()
    wanted = "results/quick/populations/msnbc-n200-s2.npz"
    made.finish("--cores", "2", wanted, msnbc=msnbc_file)
    record = json.loads(made.text("data/msnbc/source.json"))
    assert (record["kind"], record["origin"]) == ("real", msnbc_file.name)
    population = load_population(made.folder / wanted)
    assert (population.source, population.n_users, population.set_size, population.domain_size) == ("real", 200, 2, 17)
    # in a shell without the variable the results stay real, also when the job runs again
    assert made.would_run(wanted) == {}
    with made.edited("src/segshuffle/datasets/sampling.py", lambda text: f"{text}\n# an edit\n"):
        made.finish("--cores", "2", wanted)
        assert json.loads(made.text("data/msnbc/source.json"))["kind"] == "real"
        shutil.rmtree(made.folder / "data")
        status, said = made.run("--cores", "2", wanted, "--forcerun", "dataset")
    assert status != 0
    assert "No stand-in takes their place. Name your own copy by SEGSHUFFLE_MSNBC" in said
    assert json.loads(made.text("data/msnbc/source.json"))["kind"] == "real"
    assert load_population(made.folder / wanted).source == "real"
    made.finish("--cores", "2", wanted, msnbc=msnbc_file)
    assert population.items.tolist() == load_population(made.folder / wanted).items.tolist()


@pytest.mark.exhaustive
def test_a_stand_in_is_replaced_by_a_copy_that_is_given_later(new_checkout, msnbc_file):
    made = new_checkout()
    wanted = "results/quick/populations/msnbc-n200-s2.npz"
    made.finish("--cores", "2", wanted)
    assert made.would_run(wanted) == {}
    assert made.would_run(wanted, msnbc=msnbc_file) == {"replaced": 1, "dataset": 1, "population": 1}
    made.finish("--cores", "2", wanted, msnbc=msnbc_file)
    assert load_population(made.folder / wanted).source == "real"
    assert made.would_run(wanted) == made.would_run(wanted, msnbc=msnbc_file) == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("looking", [["-n"], ["--summary"]])
def test_looking_at_a_run_asks_no_network(new_checkout, looking, monkeypatch):
    """A stand-in is in use, and downloading is allowed: only a job or `refresh` may try it."""
    made = new_checkout()
    source = made.out / "data/msnbc/source.json"
    source.parent.mkdir(parents=True)
    source.write_text('{"kind": "stand-in", "sha256": null, "origin": "", "reason": ""}')
    with socket.create_server(("127.0.0.1", 0)) as proxy, made.configured("datasets.msnbc.download", True):
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        made.finish("--cores", "1", *looking, "fig2")
        proxy.setblocking(False)
        with pytest.raises(BlockingIOError):
            proxy.accept()
