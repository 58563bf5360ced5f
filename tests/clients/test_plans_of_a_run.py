"""Every proven plan of a run of the pipeline, by both verifiers."""

import json

import pytest
import yaml
from clients.test_module import call, demands
from clients.verifier import verifier

from segshuffle.collection.planning.documents import save_plan
from segshuffle.plans.plan import Plan
from segshuffle.reproduction.design import Setting
from segshuffle.reproduction.studies.planning import problem_of


def plans_of(folder):
    """Yield the proven plans of a finished run that send copies and dummies in one collection."""
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    for path in sorted((folder / "plans/proven").glob("*.json")):
        dataset, n_users, set_size = path.stem.rsplit("-", 2)
        for split, points in json.loads(path.read_text(encoding="utf-8")).items():
            for point in points:
                if len(point["plan"]["collections"]) != 1 or not point["plan"]["certificate"]:
                    continue  # a competitor, or one that sends everything in several collections
                domain_size = point["plan"]["collections"][0]["announcement"]["domain_size"]
                setting = Setting(dataset, int(n_users[1:]), int(set_size[1:]), domain_size)
                yield Plan.from_dict(problem_of(config, setting, split, "proven"), point["plan"])


@pytest.mark.exhaustive
def test_both_verifiers_accept_every_proven_plan_of_a_run(checkout, tmp_path):
    documents = []
    for made in plans_of(checkout.out):
        save_plan(made, tmp_path / "plan.json")
        documents.append(json.loads((tmp_path / "plan.json").read_text(encoding="utf-8")))
    assert len(documents) > 5
    for document in documents:
        for _, promised, bound in verifier().verify(document):
            assert bound <= promised
    calls = [("check", [document, demand]) for document in documents for demand in demands(document)]
    for result, (_, (document, demand)) in zip(call(*calls), calls, strict=True):
        assert result["value"]["accepted"], (document["scheme"], demand, result)
