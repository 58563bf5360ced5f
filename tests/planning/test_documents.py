"""Plans as files: what is saved is read back, and anything else is refused in a sentence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans import given_plan

from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.signed import Signed
from segshuffle.errors import DataError
from segshuffle.planning.documents import read_plan, save_plan
from segshuffle.protocols.base import Problem
from segshuffle.protocols.proven import ProvenSegmented

NAMES = ("tea", "milk", "bread", "eggs", "a, b", "salt")
PLAN = ProvenSegmented(blanket_per_user=3.0).plan(Problem(6, 2, (1.0, 2.0), (40, 20), 1e-5))


@pytest.fixture
def published(tmp_path):
    save_plan(PLAN, tmp_path / "PLAN.json", NAMES)
    return tmp_path / "PLAN.json"


@pytest.mark.parametrize("blanket", [None, Clustered(0.6), Signed(0.3, 0.85, 0.6)])
def test_a_plan_is_read_back(published, blanket):
    made = given_plan(PLAN.problem, (0.5, 1.0), 3.0, blanket) if blanket else PLAN
    save_plan(made, published, NAMES)
    text, found = published.read_text(), read_plan(published)
    assert (found.plan.problem, found.plan.scheme) == (made.problem, made.scheme)
    assert [found.name(item) for item in range(6)] == list(NAMES)
    save_plan(found.plan, published, found.items)
    assert published.read_text() == text


KEYS = st.sampled_from(
    ["problem", "assumptions", "scheme", "plan", "items", "version", "messages", "format", "copies", "delta"]
)
ODD = st.sampled_from([None, True, -1, 0, 10**400, "x", [], {}, [None], 1e300, "NaN", {"name": "clustered"}])


@given(
    key=KEYS,
    inner=st.sampled_from(
        ["", "domain_size", "levels", "level_counts", "delta", "sets", "certificate", "law", "blanket_cap"]
    ),
    odd=ODD,
)
def test_what_is_no_plan_is_refused_in_a_sentence(key, inner, odd, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "odd.json"
    save_plan(PLAN, path, NAMES)
    values = json.loads(path.read_text())
    if inner and isinstance(values.get(key), dict):
        values[key][inner] = odd
    elif key == "copies":
        values["scheme"]["copies"] = odd
    else:
        values[key] = odd
    path.write_text(json.dumps(values))
    said = str(path)
    try:
        assert read_plan(path).plan.problem.n_users >= 1
    except DataError as error:
        said = str(error)
    assert str(path) in said


def test_another_version_or_kind_or_law_is_refused(published):
    for content in (b"user,item\n", b"\xff{}"):
        (published.parent / "other").write_bytes(content)
        with pytest.raises(DataError, match="other is no JSON file, as segshuffle plan --save makes"):
            read_plan(published.parent / "other")
    values = json.loads(published.read_text())
    for change, says in (
        ({"version": 1}, "knows version = 2"),
        ({"format": "x"}, "is no plan"),
        ({"messages": "1"}, "messages"),
        (
            {"plan": {**values["plan"], "kind": "published"}},
            "kind = 'published' is not allowed: it must be one of exact, upper",
        ),
        # nothing is proven for so few dummies in so large clusters
        ({"scheme": {**values["scheme"], "law": {"name": "clustered", "p": 0.99}}}, "honest users send 99 to"),
    ):
        published.write_text(json.dumps(values | change))
        with pytest.raises(DataError, match=says):
            read_plan(published)
