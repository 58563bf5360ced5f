"""What a user adds: a competitor, a dataset, an accountant, a study, a law, a split and levels of their own."""

import re

import yaml

#: A protocol that sends one message without content; its look is a spare one.
COMPETITOR = '''
"""Nobody says anything of use, and the server answers that all items are equally frequent."""

import numpy as np

from segshuffle.plans.plan import Plan
from segshuffle.plans.method import MethodEntry


class Guess:  # its repr differs in every process
    name = "guess"

    def __init__(self, share):
        self.share = share

    def plan(self, problem):
        return Plan("guess", problem, "exact", 0.0, 1.0, 1.0, {"share": self.share})

    def simulate(self, plan, sample, rng):
        estimate = self.share * plan.problem.set_size / sample.domain_size
        return np.full((sample.repetitions, sample.domain_size), estimate)

    def expected_mse(self, plan, item_counts):
        estimate = self.share * plan.problem.set_size / item_counts.size
        return float(((item_counts / plan.problem.n_users - estimate) ** 2).sum())

    def sum_variance(self, plan):
        return None


OPTIONS = {"share": {"description": "Factor", "type": "number", "minimum": 0, "maximum": 2, "default": 1.0}}
PROVEN_OPTIONS = OPTIONS_OF_THE_OTHER_SIDE
METHODS = (
    MethodEntry("guess", lambda options: Guess(options["share"])),
    MethodEntry("guess", lambda options: Guess(options["share"]), accounting="proven"),
)
'''
COMPETITOR = COMPETITOR.replace("OPTIONS_OF_THE_OTHER_SIDE", re.search(r"(?m)^OPTIONS = (.*)$", COMPETITOR)[1])

#: A dataset that is read from a file of the user's.
DATASET = '''
"""Baskets: who buys what, a line per customer."""

from segshuffle.datasets.interface import Dataset, DataSource


def _obtain(section, place):
    import numpy as np

    rows = [[int(item) for item in line.split()] for line in place.given.read_text().splitlines()]
    return np.array(rows), DataSource("real", None, place.given.name)


def _population(*, section, n_users, set_size, rng, data, source):
    from segshuffle.datasets.population import Population

    items = rng.choice(data, size=n_users, replace=False)[:, :set_size]
    return Population(items=items, domain_size=section["goods"], source=source.kind)


DATASET = Dataset(
    name="baskets",
    label="Baskets",
    licence="Baskets, made up for a test, CC0",
    keys={
        "path": {"description": "The file", "type": ["string", "null"], "minLength": 1, "default": None},
        "goods": {"description": "Number of goods", "type": "integer", "minimum": 2, "default": 9},
    },
    domain_size=lambda section, set_size: section["goods"],
    population=_population,
    obtain=_obtain,
    most_users=300,
)
'''

#: A bound that claims half of what the local guarantee is.
ACCOUNTANT = """
from segshuffle.accounting.single_message.accountants.interface import Accountant

ACCOUNTANTS = (
    Accountant(
        name="half-of-it",
        kind="published",
        status="made up",
        source="nobody",
        order=99,
        part="local_epsilon",
        epsilon=lambda local_epsilon, n_users, delta: local_epsilon / 2,
    ),
)
"""
#: A study: what it computes, what readers see of it and are told, its rules, and the script of one of them.
STUDY = {
    "src/segshuffle/reproduction/studies/thanks/__init__.py": '"""Does thanking help?"""\n',
    "src/segshuffle/reproduction/studies/thanks/compute.py": '''
"""Shake hands."""

import pandas as pd


def greet(panels):
    return pd.DataFrame({"panel": panels, "hands": 2})
''',
    "src/segshuffle/reproduction/studies/thanks/report.py": '''
"""Bars of hands shaken, and what they show in words."""

from segshuffle.drawing.looks import PALETTE
from segshuffle.drawing.style import panel_grid


def draw(table):
    figure, (axis,) = panel_grid(1, height=2.0, foot=0.0)
    axis.bar(table["panel"], table["hands"], color=PALETTE["green"])
    return figure


def description(figure, tables):
    return f"Bar chart. {tables['greeting.csv']['hands'].sum()} hands were shaken." if figure == "greeting" else None
''',
    "src/segshuffle/reproduction/studies/thanks/captions.yaml": """
groups:
  thanks: {short: Thanks, title: Who is thanked, introduction: Everybody.}
outputs:
  greeting.csv: {title: greetings by panel, caption: A row per panel., group: thanks}
  figures/greeting: {title: Greetings over panels, caption: Bars are hands shaken., group: thanks}
""",
    "workflow/rules/thanks.smk": '''
# Inputs: none. Outputs: a greeting to every panel.


rule greeting:
    """A greeting to every panel."""
    output:
        table=shown("<results>/greeting.csv"),
        drawing=in_formats("greeting"),
    log:
        "<logs>/greeting.log",
    benchmark:
        "<benchmarks>/greeting.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        panels=sorted(panel.id for panel in PANELS),
        captions=said("greeting.csv", "figures/greeting"),
        code=code_of(*DRAW, "reproduction/studies/thanks"),
    script:
        "../scripts/greeting.py"
''',
    "workflow/scripts/greeting.py": '''
"""Greet every panel, and draw it."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.tables import write_table
from segshuffle.reproduction.studies.thanks.compute import greet
from segshuffle.reproduction.studies.thanks.report import draw

with job(snakemake) as edition:
    table = greet(snakemake.params.panels)
    write_table(snakemake.output.table, table)
    save(draw(table), snakemake.output.drawing, edition)
''',
}
#: Where the workflow names a study: the rules, and the results.
LINES = {
    "workflow/Snakefile": ('include: "rules/limit.smk"\n', 'include: "rules/thanks.smk"\n'),
    "workflow/rules/page.smk": ("MADE = {\n", '    "thanks": rules.greeting.output,\n'),
}


def add_study(made):
    """Add a study: a folder, a file of rules, a script, and a line each where it is named."""
    for name, text in STUDY.items():
        (made.folder / name).parent.mkdir(exist_ok=True)
        (made.folder / name).write_text(text.lstrip(), encoding="utf-8")
    for name, (place, line) in LINES.items():
        path = made.folder / name
        before, _, after = path.read_text(encoding="utf-8").partition(place)
        path.write_text(before + place + line + after, encoding="utf-8")
    if not (made.folder / "tiny.yaml").is_file():  # a copy that nothing is run in
        return made
    return _change(made, lambda config: config["parts"].append("thanks"))


def add_accountant(made):
    """Add an accountant: one file."""
    folder = made.folder / "src/segshuffle/accounting/single_message/accountants"
    (folder / "half_of_it.py").write_text(ACCOUNTANT, encoding="utf-8")
    return made


def add_competitor(made):
    """Add a competitor: one file, one entry of one line, and an option of its proven side."""
    (made.folder / "src/segshuffle/protocols/guess.py").write_text(COMPETITOR, encoding="utf-8")

    def change(config):
        config["competitors"]["methods"].append("guess")
        config["proven"]["guess"] = {"share": 0.5}

    return _change(made, change)


def add_dataset(made):
    """Add a dataset: one file, and one section; the data are the user's own."""
    (made.folder / "src/segshuffle/datasets/baskets.py").write_text(DATASET, encoding="utf-8")
    lines = (f"{i % 4} {4 + i % 3} 7" for i in range(300))
    (made.folder / "baskets.txt").write_text("\n".join(lines), encoding="utf-8")
    section = {"path": "baskets.txt", "n_users": [200], "set_sizes": [2]}
    return _change(made, lambda config: config["datasets"].update(baskets=section))


def add_split_and_levels(made):
    """Add a fourth split, and make seven levels; nobody chose the last five under the new split."""

    def change(config):
        config["levels"] = [0.4, 0.6, 0.8, 1.0, 1.4, 1.8, 2.2]
        even = [0.15] * 6 + [0.1]
        config["splits"] = {**dict.fromkeys(config["splits"], even), "half-and-half": [0.5, 0.5, 0, 0, 0, 0, 0]}

    return _change(made, change)


def _change(made, change):
    path = made.folder / "tiny.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(config)
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return made


#: A law of dummies: half of them single, half in clusters that a fair coin ends. Its counters are tabulated here.
LAW = '''
"""The mixed blanket: half of the dummies are single, half come in clusters at one item."""

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import stats

from segshuffle.blankets.atoms import Atoms
from segshuffle.blankets.base import Blanket
from segshuffle.blankets.pairs import BlanketPair
from segshuffle.blankets.parts import Part


@dataclass(frozen=True)
class Mixed(Blanket):
    """Counters are Poisson(mean/2) + NB(mean/2, 1/2): log-concave for means of at least 2."""

    name: ClassVar[str] = "mixed"
    phrase = "half of them single, half in clusters, at random items"
    means = (2.0, 5e3)

    def parts(self, mean):
        return Part(mean / 2, 0.0), Part(mean / 2, 0.5)

    def pair(self, mean, copies):
        return MixedPair(mean, copies, self)


LAW = Mixed


@functools.lru_cache(maxsize=8)
def _masses(mean, high):
    count = np.arange(high + 1)
    return np.convolve(stats.poisson.pmf(count, mean / 2), stats.nbinom.pmf(count, mean / 2, 0.5))[: high + 1]


@dataclass(frozen=True)
class MixedPair(BlanketPair):
    """The two counters that tell one item of a user from another."""

    def _atoms(self, log_tail):
        # masses fall at least by half from twice the mean on
        high = math.ceil(2 * self.blanket_mean + 2 * log_tail + 200)
        mass, whole, fraction = _masses(self.blanket_mean, high), self.floor, self.fraction
        moved = (1 - fraction) * np.append(np.zeros(whole), mass)[: high + 1]
        moved += fraction * np.append(np.zeros(whole + 1), mass)[: high + 1]
        kept = (mass > 1e-280) & (moved > 1e-280)
        ratio = np.log(moved[kept] / mass[kept])
        return Atoms(ratio, mass[kept], self.zero_mass, 4 * math.exp(-log_tail), 1e-10, 1e-10)
'''


def add_law(made):
    """Add a law: one file."""
    (made.folder / "src/segshuffle/blankets/mixed.py").write_text(LAW, encoding="utf-8")
    return made
