"""The rules as they are written: short, with the code that their scripts import, and words for all that they make."""

import ast
import json
import re
import subprocess
import sys

import pytest
import yaml
from checkouts import Workflow

from segshuffle.reproduction.captions import Captions
from segshuffle.reproduction.code import PACKAGE, files_of

#: What the interpreter loads for the imports of each script, in a fork of its own after the libraries that all share.
FORKS = """
import json, os, sys
import matplotlib.pyplot, numpy, pandas, scipy.optimize, scipy.stats
loaded = {}
for script, imports in json.load(sys.stdin).items():
    ours, theirs = os.pipe()
    if os.fork() == 0:
        exec(imports)
        files = [m.__file__ for name, m in sys.modules.items() if name.split(".")[0] == "segshuffle" and m.__file__]
        os.write(theirs, "\\n".join(files).encode())
        os._exit(0)
    os.close(theirs)
    loaded[script] = os.fdopen(ours).read().splitlines()
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0, script
print(json.dumps(loaded))
"""


@pytest.fixture(scope="module")
def rules(root):
    """Return the text of every rule, by name."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((root / "workflow/rules").glob("*.smk"))]
    return dict(re.findall(r"^rule (\w+):\n(.*?)(?=^\S|\Z)", "\n".join(texts), re.MULTILINE | re.DOTALL))


def test_every_rule_depends_on_all_that_its_script_imports(root, rules):
    """The looks of figures, which methods declare, are no dependency of a rule that draws nothing."""
    common = (root / "workflow/rules/common.smk").read_text(encoding="utf-8")
    groups = re.findall(r"^([A-Z]+) = \((.*?)\)", common, re.MULTILINE | re.DOTALL)
    scripts = {path.name: path.read_text(encoding="utf-8") for path in (root / "workflow/scripts").glob("*.py")}
    imports = {
        name: "\n".join(
            ast.unparse(node) for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)
        )
        for name, text in scripts.items()
    }
    run = [sys.executable, "-W", "ignore", "-c", FORKS]
    done = subprocess.run(run, input=json.dumps(imports), capture_output=True, text=True, check=True)
    loaded, missing, run_by = json.loads(done.stdout), {}, set()
    for rule, text in rules.items():
        if script := re.search(r'script:\s+"\.\./scripts/(\w+\.py)"', text):
            for group, parts in reversed(groups):  # later groups contain earlier ones
                text = text.replace(f"*{group}", parts)
            (named,) = re.findall(r"code=code_of\((.*?)\)", text, re.DOTALL)
            followed = {*map(str, files_of(*re.findall(r'"(.*?)"', named))), str(PACKAGE / "drawing/looks.py")}
            assert str(PACKAGE / "reproduction/jobs.py") in loaded[script[1]]
            missing |= {rule: set(loaded[script[1]]) - followed}
            run_by.add(script[1])
    assert {rule: files for rule, files in missing.items() if files} == {}, "name them or their folders in code_of"
    assert run_by == set(scripts)


def test_a_part_of_the_package_that_is_not_there_is_refused():
    with pytest.raises(FileNotFoundError, match="accountting: a rule names this part of the package in code_of"):
        files_of("accountting")


def test_files_are_short(root):
    for path in [root / "workflow/Snakefile", *(root / "workflow").rglob("*.smk"), *(root / "workflow").rglob("*.py")]:
        most = {"": 60, ".smk": 150, ".py": 30}[path.suffix]
        assert len(path.read_text(encoding="utf-8").splitlines()) <= most, path


# --- a whole run of the configuration as shipped, announced in a folder elsewhere -------------------------------------


@pytest.fixture(scope="module")
def announced(root, tmp_path_factory):
    """Return the jobs of a full run by rule, each with its inputs, outputs and priority."""
    snakefile = str(root / "workflow/Snakefile")
    said = Workflow(tmp_path_factory.mktemp("elsewhere")).finish("-s", snakefile, "-n", "--cores", "1")
    jobs = {}
    for rule, text in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)+)", said, re.MULTILINE):
        fields = dict(re.findall(r"^ {4}(input|output|priority): (.*)$", text, re.MULTILINE))
        paths = {key: fields.get(key, "").split(", ") for key in ("input", "output")}
        jobs.setdefault(rule, []).append({**paths, "priority": int(fields.get("priority", 0))})
    return jobs


@pytest.mark.pipeline
def test_every_result_has_a_title_and_every_figure_a_caption(announced, full_config):
    ((record,), captions) = announced["provenance"], Captions(full_config)
    outputs = captions.every(path.removeprefix("results/") for path in record["input"] if "source.json" not in path)
    assert len(outputs) > 60
    for output in outputs:
        assert len(output.title) > 10, output.path
        assert not output.title.endswith("."), output.path
        assert output.caption or not output.path.startswith("figures/"), output.path


@pytest.mark.pipeline
def test_figures_of_the_paper_come_first(announced):
    first = {rule for rule, jobs in announced.items() if any(job["priority"] for job in jobs)}
    assert first - {"only_real"} == {"dataset", "population", "plan", "simulate", "figure"}
    drawn = [job["output"][0] for job in announced["figure"] if job["priority"]]
    assert sorted(drawn) == [
        f"results/figures/{name}.pdf" for name in ("fig2", "fig3", "fig4", "fig5", "fig6", "summary")
    ]


@pytest.mark.pipeline
def test_the_page_is_given_every_table_that_its_words_are_made_of(announced):
    patterns = ("reproduction/studies/*/report.py", "reproduction/page/*.py", "reproduction/page/assets/*.j2")
    texts = "".join(path.read_text(encoding="utf-8") for pattern in patterns for path in PACKAGE.glob(pattern))
    read = {f"results/{name}" for name in re.findall(r'tables\["([^"]+)"\]', texts)}
    assert "results/mse.csv" in read
    assert read <= set(announced["page"][0]["input"])


@pytest.mark.pipeline
def test_what_docs_show_comes_from_a_run(root, announced):
    copied = re.findall(r'^    "(\S+)": "\S+\.md"', (root / "workflow/rules/docs.smk").read_text(), re.MULTILINE)
    claims = yaml.safe_load((root / "config/reference/claims-own.yaml").read_text(encoding="utf-8"))["experiments"]
    read = [claim["table"] for experiment in claims for claim in experiment["claims"] if "table" in claim]
    made = {path for jobs in announced.values() for job in jobs for path in job["output"]}
    assert {f"results/{name}" for name in [*copied, *read]} <= made
    assert {rule for experiment in claims for rule in experiment["rules"]} <= set(announced)
