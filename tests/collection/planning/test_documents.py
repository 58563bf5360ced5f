"""Plans as files: what is saved is read back, and anything else is refused in a sentence."""

import json

import pytest
from given_plans import edited, given_plan
from hypothesis import given, settings
from hypothesis import strategies as st

from segshuffle import plan
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.signed import Signed
from segshuffle.collection.planning.documents import read_announcement, read_plan, save_plan
from segshuffle.errors import DataError
from segshuffle.plans.plan import Assumptions, Problem
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
    text, found = published.read_text(), read_announcement(published)
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
    edited(path)
    said = str(path)
    try:
        assert read_plan(path).plan.problem.n_users >= 1
    except DataError as error:
        said = str(error)
    assert str(path) in said


def test_another_version_or_kind_or_law_is_refused(published):
    for content, says in (
        (b"user,item\n", "is no JSON file, as segshuffle plan --save makes"),
        (b"\xff{}", "this is not"),
    ):
        (published.parent / "other").write_bytes(content)
        with pytest.raises(DataError, match=f"other.* {says}"):
            read_plan(published.parent / "other")
    values = json.loads(published.read_text())
    for change, says in (
        ({"version": 2}, "knows version = 3"),
        ({"format": "x"}, "is no plan"),
        ({"messages": "1"}, "messages"),
        ({"messages": True}, "messages"),
        (
            {"plan": {**values["plan"], "kind": "published"}},
            "kind = 'published' is not allowed: it must be one of exact, upper",
        ),
        # nothing is proven for so few dummies in so large clusters
        ({"scheme": {**values["scheme"], "law": {"name": "clustered", "p": 0.99}}}, "honest users send 99 to"),
    ):
        published.write_text(json.dumps(values))
        edited(published, **change)
        with pytest.raises(DataError, match=says):
            read_plan(published)


ROUNDS = Problem(6, 2, (1.0, 2.0), (40, 20), 1e-5, Assumptions(honest_fraction=0.9, rounds=4))


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"problem": {"levels": [0.1, 2.0]}}, "level 0.1 is promised delta = 1e-05"),
        ({"problem": {"delta": 1e-12}}, "level 1 is promised delta = 1e-12"),
        ({"problem": {"level_counts": [20, 20]}}, "level 1 is promised"),
        ({"problem": {"set_size": 3}}, "level 1 is promised"),
        ({"assumptions": {"honest_fraction": 0.1}}, "level 1 is promised"),
        ({"assumptions": {"rounds": 8}}, "level 1 is promised"),
        ({"assumptions": {"rounds": 1}}, None),  # promises less
        ({"scheme": {"copies": [1.0, 1.0]}}, "level 1 is promised"),
        ({"scheme": {"copies": [5e-324, 1.0]}}, "copies = 5e-324 is not allowed"),
        ({"scheme": {"blanket_per_user": 1.5}}, "level 1 is promised"),
        ({"plan": {"messages_per_user": 1.0}}, None),
        ({"plan": {"certificate": [{"epsilon": 1.0, "delta_lower": 0.0, "delta_upper": 0.5}] * 2}}, None),
        ({"asked": {"max_messages": 1}}, None),
        ({"items": NAMES[::-1]}, None),
    ],
)
@pytest.mark.parametrize("read", [read_plan, read_announcement])
def test_an_edited_plan_is_refused_and_its_promises_are_computed(tmp_path, change, broken, read):
    """With a new digest, too, nobody is promised more than what users send gives."""
    path = tmp_path / "plan.json"
    save_plan(ProvenSegmented(blanket_per_user=3.0).plan(ROUNDS), path, NAMES)
    assert read(path).plan.problem == ROUNDS
    edited(path, signed=False, **change)
    with pytest.raises(DataError, match="was changed after it was written"):
        read(path)
    edited(path)
    # a client computes its own guarantee
    if broken and (read is read_plan or "promised" not in broken):
        with pytest.raises(DataError, match=broken):
            read(path)
    else:
        read(path)


@given(
    sizes=st.sampled_from([(6, 2), (40, 3), (300, 20)]),
    levels=st.lists(st.floats(0.1, 4.0), min_size=1, max_size=3, unique=True).map(sorted),
    users=st.integers(200, 10**6),
    log_delta=st.floats(-9, -4),
    honest=st.floats(0.3, 1.0),
    rounds=st.sampled_from([1, 5]),
    cap=st.sampled_from([None, "auto"]),
)
@settings(max_examples=4)
def test_every_plan_that_is_saved_is_read_back(tmp_path_factory, sizes, levels, users, log_delta, honest, rounds, cap):
    path, assumptions = tmp_path_factory.getbasetemp() / "any.json", Assumptions("at-most", honest, rounds=rounds)
    problem = Problem(*sizes, tuple(levels), (users,) * len(levels), 10**log_delta, assumptions)
    made = plan(problem, blanket_cap=cap)
    save_plan(made, path)
    assert read_plan(path).plan == made
