"""A study is one folder in studies/ with its outputs declared, and one rules file of the same name."""

import re

OUTPUTS = '''
"""What this study writes."""

from segshuffle.pipeline.manifest import Target


def targets(config, panels):
    return [Target("greeting", "A greeting to every panel.", ("greeting.csv", "figures/greeting"))]
'''
RULES = '''
rule greet:
    """Greet every panel."""
    input:
        rules.aggregate.output,
    output:
        f"{OUT}/greeting.csv",
        drawn("greeting", "page", "Greetings"),
    log:
        f"{OUT}/logs/greet.log",
    shell:
        "touch {output:q} > {log:q} 2>&1"
'''


def add_study(checkout):
    """Write the folder and the rules file."""
    # after the study whose table it reads
    folder = checkout.folder / "src/segshuffle/studies/thanks"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Thanks."""\n', encoding="utf-8")
    (folder / "outputs.py").write_text(OUTPUTS, encoding="utf-8")
    (checkout.folder / "workflow/rules/thanks.smk").write_text(RULES, encoding="utf-8")
    return checkout


def test_it_appears_in_targets_in_what_is_made_and_on_the_page(new_checkout):
    made = add_study(new_checkout())
    status, said = made.run("--list")
    assert status == 0, said
    assert "greeting (A greeting to every panel.)" in said
    status, said = made.run("-n", "--cores", "1", "-p")
    assert status == 0, said
    assert re.search(r"^greet +1$", said, re.MULTILINE), "part of everything"
    page = said[said.index("rule page:") :]
    assert "results/quick/figures/greeting.svg" in page.partition("output:")[0]
