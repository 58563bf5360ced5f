"""Documents for the next person: short sentences, every key described, numbers a run has given, files that exist."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import segshuffle
from segshuffle.accounting.collections import published
from segshuffle.datasets.registry import every
from segshuffle.plans import listed as protocols
from segshuffle.protocols import segmented
from segshuffle.reproduction import design
from segshuffle.reproduction.config import whole_schema
from segshuffle.reproduction.studies import planning

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    "README.md",
    "ARTIFACT-APPENDIX.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "config/README.md",
    "docs/architecture.md",
    "docs/findings.md",
    "docs/running.md",
    "docs/tutorial.md",
]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


# --- prose -----------------------------------------------------------------------------------------------------------


def sentences(text):
    """Yield the sentences of running text and of list entries, without code, tables, headings and pictures."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"^(?:    |\||#|!\[).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=- |\d\. )", text):
        for sentence in re.split(r"(?<=[.!?])[\")*]*\s+", " ".join(paragraph.split())):
            if re.search(r"\w", sentence):
                yield sentence


@pytest.mark.parametrize("name", DOCUMENTS)
def test_sentences_are_short(name):
    lengths = [len(sentence.split()) for sentence in sentences(read(name))]
    assert len(lengths) > 5
    assert sum(lengths) / len(lengths) <= 17


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_named_exists(name):
    """Links and paths in code marks exist; capitals stand for a name of the reader's own."""
    text = read(name)
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (ROOT / name).parent.joinpath(link).exists(), link
    folders = "src|tests|workflow|config|docs|benchmarks"
    for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", text):
        assert re.search(r"/[A-Z]{4,}", path) or (ROOT / path).exists(), path


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_every_file_of_code_that_is_named_exists(name):
    """Files may be named without their folder."""
    files = {
        f"/{path.relative_to(ROOT)}"
        for room in ("src", "tests", "workflow", "docs")
        for path in (ROOT / room).rglob("*")
    }
    for path in re.findall(r"`([\w./-]+\.(?:py|smk))`", read(name)):
        assert re.search(r"\b[A-Z]{4,}\b", path) or any(file.endswith(f"/{path}") for file in files), path


def test_how_m_is_picked_is_read_in_four_files_and_few_lines():
    section = re.search(r"### How m is picked\n(.*?)\n## ", read("docs/architecture.md"), re.DOTALL)[1]
    read_whole = [segmented, published.largest_sampling_rate, published.least_blanket_per_user]
    read_whole += [design.blanket_grid, planning._variants]
    lines = sum(len(inspect.getsource(part).splitlines()) for part in read_whole)
    (stated,) = re.findall(r"about (\d+) lines of four files", section)
    assert lines == pytest.approx(int(stated), abs=10)
    named = [segmented.plan_at, segmented.sampling_rates, segmented.optimize_parameters, segmented.least_blankets]
    named += [
        published.largest_sampling_rate,
        published.least_blanket_per_user,
        design.blanket_grid,
        planning._variants,
    ]
    for each in named:
        assert f"`{each.__name__}`" in section
        assert f"`{each.__module__.removeprefix('segshuffle.').replace('.', '/')}.py`" in section


def test_every_document_is_a_chapter_or_a_chapter_links_to_it():
    """Tables that a run writes, and what benchmarks measured, are no chapters."""
    listed = re.findall(
        r"^(?:.*<)?([\w./-]+?)>?$",
        "".join(re.findall(r"```{toctree}(.*?)```", read("docs/index.md"), re.DOTALL)),
        re.MULTILINE,
    )
    pages = {(ROOT / "docs" / name).resolve() for name in listed}
    found = [path for kind in ("md", "ipynb") for path in (ROOT / "docs").rglob(f"*.{kind}")]
    names = {path.with_suffix("") for path in found} - {ROOT / "docs/index"}
    assert all(page.with_suffix(".md").exists() for page in pages - names)
    no_chapters = ("amplification-claims", "proven-summary", "referee-table", "benchmarks")
    tables = {ROOT / "docs" / name for name in no_chapters}
    assert names - pages == tables, "name the others in docs/index.md"
    chapters = "".join(page.with_suffix(".md").read_text(encoding="utf-8") for page in pages - {ROOT / "docs/notebook"})
    assert all(f"]({table.name}.md" in chapters for table in tables)


@pytest.mark.exhaustive
def test_every_public_name_is_explained_in_the_reference(tmp_path):
    page = "docs/api/library"
    only = ["-D", f"root_doc={page}", "-D", f"include_patterns={page}.md"]
    build = [sys.executable, "-m", "sphinx", "--quiet", *only, "--conf-dir", "docs", ".", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    text = (tmp_path / f"{page}.html").read_text(encoding="utf-8")
    assert [name for name in segshuffle.__all__ if f'id="segshuffle.{name}"' not in text] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_make_targets_exist(name):
    for target in re.findall(r"^make (\w+)", read(name), re.MULTILINE):
        assert re.search(rf"^{target}:", read("Makefile"), re.MULTILINE), target


@pytest.mark.parametrize("name", DOCUMENTS)
def test_targets_exist(name):
    """What Snakemake is asked for in a command, or a table of targets names, is a rule or a file."""
    files = [ROOT / "workflow/Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    workflow = "".join(path.read_text(encoding="utf-8") for path in files)
    rules = re.findall(r"^rule (\w+):", workflow, re.MULTILINE)
    text = read(name)
    asked = re.findall(r"snakemake --cores \w+ ([a-z]\w+)", text)
    rows = re.search(r"^\| target .*?\n\n", text, re.MULTILINE | re.DOTALL)
    asked += re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.+?) \|", rows[0], re.MULTILINE))) if rows else []
    assert set(asked) <= set(rules)
    assert name != "docs/running.md" or len(asked) > 5


def test_every_benchmark_is_in_their_table():
    named = set(re.findall(r"^\| `(\w+\.py)`", read("docs/benchmarks.md"), re.MULTILINE))
    assert named == {path.name for path in (ROOT / "benchmarks").glob("*.py")} - {"timing.py"}


#: Options that make a benchmark small; the other benchmarks are small without options.
SMALL = {
    "account_corners": ["--only", "pure-dump"],
    "assumptions": ["--config", "config/quick.yaml", "--repeats", "1"],
    "delta_over_n": ["--repeats", "1"],
    "messages": ["--users", "2000", "--repeats", "1"],
    "peers": ["--collections", "1,7", "--repeats", "1"],
    "plan": ["--repeats", "1"],
    "reading": ["--users", "2e4"],
    "rehearse": ["--users", "2e4"],
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", re.findall(r"^\| `(\w+)\.py`", read("docs/benchmarks.md"), re.MULTILINE))
def test_a_benchmark_runs(name):
    command = [sys.executable, f"benchmarks/{name}.py", *SMALL.get(name, ())]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


# --- numbers ---------------------------------------------------------------------------------------------------------


CLAIMS = yaml.safe_load(read("config/reference/claims-own.yaml"))
#: Documents that a run writes; docs_figures copies them.
MADE = re.findall(r'": "(\S+\.md)"', read("workflow/rules/docs.smk"))
#: A decimal, a power of ten, a percentage, a factor, or a share such as "6 of the 18".
NUMBER = re.compile(r"\d[\d,]*\.\d+(?:e-?\d+)?|\de-?\d+|10⁻|\d[\d,]*(?= (?:%|times\b|of (?:the )?\d))")


def unexplained(text, phrases):
    """Return the numbers of a document outside code and without those of some phrases, each of which it must have."""
    text = re.sub(r"```.*?```|\]\([^)]*\)|^    .*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = " ".join(text.split())
    for phrase in phrases:
        assert phrase in text
        text = text.replace(phrase, "")
    return NUMBER.findall(re.sub(r"`[^`]*`", "", text))


def test_a_number_that_nobody_explains_is_found():
    text = "It has 3.9 times less error\n(16 of the 18) at `x = 0.5`, 7 %, 1e-9.\n\n    y = 0.5\n"
    assert unexplained(text, ["less error (16 of the 18)"]) == ["3.9", "7", "1e-9"]


@pytest.mark.parametrize(
    "name", ["README.md", *(f"docs/{each.name}" for each in (ROOT / "docs").glob("*.md") if each.name not in MADE)]
)
def test_every_number_is_a_claim(name):
    """`make claims` compares claims with a run, or a test does; other numbers are given, and a list has them."""
    claims = [claim for experiment in CLAIMS["experiments"] for claim in experiment["claims"]]
    phrases = [claim["claim"] for claim in [*claims, *CLAIMS["tested"]] if claim["document"] == name]
    assert unexplained(read(name), [*phrases, *CLAIMS["given"].get(name, ())]) == []


def test_claims_have_the_numbers_of_their_sentences_and_tests_that_exist():
    for experiment in CLAIMS["experiments"]:
        for claim in experiment["claims"]:
            for number in claim["numbers"]:
                assert re.search(rf"(?<![\d.]){re.escape(number['stated'])}(?![\d])", claim["claim"]), claim
    for claim in CLAIMS["tested"]:
        path, _, test = claim["test"].partition("::")
        assert f"def {test}(" in read(path)


def test_the_first_screen_of_the_readme_says_how_to_reproduce_and_how_to_test():
    screen = "\n".join(read("README.md").splitlines()[:25])
    (block,) = re.findall(r"```bash\n(.*?)```", screen, re.DOTALL)
    assert re.findall(r"^make \w+", block, re.MULTILINE) == ["make reproduce", "make test"]


def test_the_readme_is_short():
    assert len(read("README.md").splitlines()) <= 150


# --- the configuration -----------------------------------------------------------------------------------------------


def keys_of(rules, name=""):
    """Yield every key that a schema names, with dots."""
    for key, below in rules.get("properties", {}).items():
        yield f"{name}{key}"
        yield from keys_of(below, f"{name}{key}.")
    if "properties" in (others := rules.get("additionalProperties") or {}):
        yield f"{name}NAME"
        yield from keys_of(others, f"{name}NAME.")


def test_documents_that_a_run_makes_are_of_real_data():
    assert len(MADE) > 3
    assert not [name for name in MADE if "stand-in" in read(f"docs/{name}")]


def test_every_key_is_described_and_every_described_key_exists(schema):
    described = re.findall(r"^\| `([\w.-]+)` \| (.*?) \|", read("config/README.md"), re.MULTILINE)
    assert [name for name, _ in described] == list(dict(described)), "each once"
    keys, names = set(keys_of(whole_schema(schema))), {name for name, _ in described}
    # datasets and protocols describe their keys in their own files; if the page lists one, it lists all its keys
    sections = {"datasets": every(), "competitors": protocols.listed(), "proven": protocols.listed()}
    elsewhere = {f"{section}.{name}" for section, files in sections.items() for name in files} - names
    assert names == {key for key in keys if not elsewhere & {key, key.rpartition(".")[0]}}
    assert all(len(words) > 5 for _, words in described)


# --- for other programs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "name"),
    [("citation-file-format", "CITATION.cff"), ("github-workflows", ".github/workflows/ci.yml")],
)
def test_files_for_other_programs_follow_their_schema(schema, name):
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", name]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_hosted_checks_trust_nothing_that_may_change():
    said = yaml.safe_load(read(".github/workflows/ci.yml"))
    (job,) = said["jobs"].values()
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action) for action in used)
    assert said["permissions"] == {"contents": "read"}
    assert job["timeout-minutes"] <= 360
    asked = re.search(r'requires-python = ">=([\d.]+),<3\.(\d+)"', read("pyproject.toml"))
    assert job["strategy"]["matrix"]["python"] == [asked[1], f"3.{int(asked[2]) - 1}"]
    assert f"python_of {asked[1]})" in read(".ci/run")


def test_the_catalog_of_workflows_finds_what_it_asks_for():
    """Its rules (README of https://github.com/snakemake/snakemake-workflow-catalog, section Workflows).

    - README.md has the words "snakemake" and "workflow"; workflow/rules has a file that ends on .smk.
    - Standardized usage: the main definition is workflow/Snakefile; instructions are in config/README.md;
      .snakemake-workflow-catalog.yml has `usage` with `mandatory-flags` (`desc` and `flags`, optional),
      `software-stack-deployment` (at least one of conda, singularity, singularity+conda) and `report`.
    - It runs `snakemake --lint` and `snakefmt --check`, as `make check` does.
    """
    assert {"snakemake", "workflow"} <= set(re.findall(r"\w+", read("README.md").lower()))
    assert list((ROOT / "workflow/rules").glob("*.smk"))
    assert (ROOT / "workflow/Snakefile").is_file()
    assert read("config/README.md").startswith("# ")
    entry = yaml.safe_load(read(".snakemake-workflow-catalog.yml"))["usage"]
    assert set(entry) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(entry["mandatory-flags"]) == {"desc", "flags"}
    assert entry["software-stack-deployment"] == {"conda": True}
    assert entry["report"] is True
    # every job has an environment, so --sdm conda works
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        for rule in path.read_text(encoding="utf-8").split("\nrule ")[1:]:
            assert "script:" not in rule or re.search(r'conda:\n +"\.\./envs/\w+\.yaml"', rule), rule
