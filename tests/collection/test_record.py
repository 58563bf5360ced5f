"""Records for OpenDP's registry of deployments: YAML with the registry's fields and nothing else, from a plan."""

import pytest
import yaml
from jsonschema import Draft7Validator

from segshuffle.cli import main
from segshuffle.collection.planning.documents import read_plan

#: Sections of a deployment and the fields of the registry that a record may have; those with * are required.
FIELDS = {
    "basic": "name* data_curators* intended_use* data_product_type* data_product_region* description* "
    "publication_date*",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details privacy_parameters privacy_parameters_details",
    "deployment_model": "model_name actors release_type data_source_type access_type",
    "accounting": "post_processing composition",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms justification",
    "administrative": "sources notes registry_authors*",
}
LIST = {"type": "array", "items": {"type": "string"}, "minItems": 1}
#: Fields that are not any text.
TYPES = {
    "data_curators": LIST,
    "registry_authors": LIST,
    "publication_date": {"type": "string", "format": "date"},
    "data_product_type": {"enum": ["Summary statistics", "Machine learning model", "Dataset", "Synthetic data"]},
    "variant_name": {"enum": ["Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"]},
    "model_name": {"enum": ["Local", "Central", "Shuffle", "Federated", "Varies"]},
    "release_type": {"enum": ["One release", "Many releases"]},
    "access_type": {"enum": ["Interactive", "Non-interactive"]},
    "privacy_parameters": {
        "properties": {"epsilon": {"type": "number"}, "delta": {"type": "number"}},
        "additionalProperties": False,
    },
}


def closed(properties, required):
    """Return the schema of a mapping with these properties and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def schema():
    sections = {}
    for name, fields in FIELDS.items():
        names = fields.replace("*", "").split()
        required = [field[:-1] for field in fields.split() if field.endswith("*")]
        sections[name] = closed({field: TYPES.get(field, {"type": "string"}) for field in names}, required)
    top = {
        "url_slug": {"type": "string"},
        "status": {"enum": ["Draft", "Pending"]},
        "tier": {"enum": [1, 2, 3]},
        "deployment": closed(sections, ["basic"]),
    }
    return closed(top, list(top))


@pytest.mark.parametrize(
    "more", ["--levels 1:2000", "--levels 0.5:1000,2:1000 --rounds 3 --honest-fraction 0.9 --dummies clustered"]
)
def test_a_record_has_the_fields_of_the_registry_and_the_guarantee_of_the_plan(tmp_path, more):
    saved, file = tmp_path / "plan.json", tmp_path / "record.yaml"
    call = f"plan --items 12 --set-size 2 --delta 1e-5 {more} --save {saved} --record {file}"
    assert main(call.split()) == 0
    record = yaml.safe_load(file.read_text(encoding="utf-8"))
    Draft7Validator(schema(), format_checker=Draft7Validator.FORMAT_CHECKER).validate(record)
    told, plan = record["deployment"], read_plan(saved).plan
    assert told["deployment_model"]["model_name"] == "Shuffle"
    parameters = told["privacy_loss"]["privacy_parameters"]
    assert parameters["epsilon"] == max(plan.problem.levels)
    proven = max(row["delta_upper"] for row in plan.certificate)
    assert proven <= parameters["delta"] <= proven * (1 + 1e-5)
    assert f"{plan.problem.assumptions.rounds} collections together" in str(told) or len(plan.problem.levels) == 1
    assert f"At least {plan.problem.honest_users} of 2000 users" in told["deployment_model"]["actors"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    files = f"--save {folder / 'plan.json'} --record {folder / 'made.yaml'}"
    assert main(f"plan --items 12 --set-size 2 --delta 1e-5 --levels 1:2000 {files}".split()) == 0
    return folder / "plan.json"


def test_a_saved_plan_has_the_record_that_it_had_when_it_was_made(saved, tmp_path, capsys):
    capsys.readouterr()
    assert main(["plan", str(saved), "--record", str(tmp_path / "later.yaml")]) == 0
    assert (tmp_path / "later.yaml").read_bytes() == saved.with_name("made.yaml").read_bytes()
    assert capsys.readouterr().out.startswith(f"{saved} keeps its promises.\nAt epsilon 1, delta is at most ")


@pytest.mark.parametrize(
    "more", ["--sets exactly", "--json", "--save other.json", "--what-if users 1e4,1e5", "--no-equal-copies"]
)
def test_a_saved_plan_takes_no_other_options(saved, capsys, more):
    assert main(["plan", str(saved), *more.split()]) == 2
    assert f"{more.split()[0].replace('--no-', '--')} does not go with" in capsys.readouterr().err


def test_an_edited_plan_gets_no_record(saved, tmp_path, capsys):
    edited = tmp_path / "plan.json"
    edited.write_text(saved.read_text(encoding="utf-8").replace("2000", "3000"), encoding="utf-8")
    assert main(["plan", str(edited), "--record", str(tmp_path / "record.yaml")]) == 2
    assert "edited" in capsys.readouterr().err
    assert not (tmp_path / "record.yaml").exists()
