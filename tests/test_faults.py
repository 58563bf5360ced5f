"""The explanations of faults that no test kills hold for the code as it is; and which faults are made."""

import faults
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code


def test_explanations_are_of_the_text_that_stands():
    """A function that has changed may be tested by now, or no longer be equivalent: its reasons are judged again."""
    stale = [
        f"{place.file}, {place.within or 'a statement of the module'}, text = {place.text}: read the reasons again; "
        f"delete them, or renew text to one of {[new.text for new in now if new.within == place.within]}"
        for place in faults.reasons()
        for now in [{each for _, each in faults.places_of(place.file)}]
        if place not in now
    ]
    assert not stale, f"{faults.EXPLAINED}: {stale}"
    for place, said in faults.reasons().items():
        lines = {line.strip() for line in (faults.ROOT / place.file).read_text(encoding="utf-8").splitlines()}
        for change, reason in said.items():
            assert {line[2:] for line in change if line.startswith("- ")} <= lines, place
            assert len(reason.split()) >= 5, place


def test_what_is_left_out_stands():
    for entry in faults.explained("left_out"):
        assert faults.package_of(entry["file"]), f"nothing is drawn of {entry['file']}"
        names = {place.within for _, place in faults.places_of(entry["file"])}
        assert set(entry["within"]) <= names - {""}, (entry["file"], names)
        assert len(entry["reason"].split()) >= 5, entry


def test_there_are_faults_of_the_wrong_side():
    source = (
        "lower = min(found.upper, math.inf)\nend = pick(np.floor(lower), upper=1)\nside = 'a' if x else \"lower\"\n"
    )
    nodes = list(ast_nodes(get_ast(source)))
    number = sum(1 for node in nodes for _ in faults.WrongSide().mutation_positions(node))
    found = [mutate_code(source, faults.WrongSide(), occurrence) for occurrence in range(number)]
    assert found == [
        source.replace(one, other)
        for one, other in (
            ("min(", "max("), (".upper", ".lower"), (".inf", ".inf * -1"), ("floor", "ceil"), ('"lower"', '"upper"')
        )
    ]  # fmt: skip


def test_what_is_drawn_of_a_line_stays_where_others_change(tmp_path, monkeypatch):
    path = tmp_path / "src/segshuffle/accounting/one.py"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(faults, "ROOT", tmp_path)
    monkeypatch.setattr(faults, "project_files", lambda: ["src/segshuffle/accounting/one.py"])
    monkeypatch.setattr(faults, "lines_left_out", lambda _: set())
    kept = [f"a{number} = {number} + b * c < d" for number in range(8)]

    def drawn(lines, seed=1):
        path.write_text("\n".join(lines) + "\n")
        return [each.change for each in faults.sample("accounting", 1000, seed, "*")]

    before = drawn(kept)
    after = drawn(["x = 3 + 4", *kept[:4], "", "y = 5 - 6", *kept[4:]])
    assert len(before) == 4 * len(kept)
    assert [each for each in after if "x =" not in each[0] and "y =" not in each[0]] == before
    assert drawn(kept, seed=2) != before
