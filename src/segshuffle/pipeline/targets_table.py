"""The README's table of targets, made of what the studies declare: ``python -m segshuffle.pipeline.targets_table``."""

from pathlib import Path

import yaml

from segshuffle.pipeline import manifest
from segshuffle.pipeline.scenarios import scenarios

START, END = "<!-- targets: made by python -m segshuffle.pipeline.targets_table -->", "<!-- end of targets -->"


def renewed(root: Path) -> str:
    """Return the README of the project in `root` with the targets of the shipped configuration.

    Targets that make only a part of another target share a row below it.
    """
    config = yaml.safe_load((root / "config/config.yaml").read_text(encoding="utf-8"))
    found = manifest.targets(config, scenarios(config))
    lines = [START, "| target | what |", "|---|---|"]
    for target in found:
        outputs = set(target.outputs)
        if not any(outputs < set(whole.outputs) for whole in found):
            lines.append(f"| `{target.name}` | {target.what} |")
        if parts := [part.name for part in found if set(part.outputs) < outputs]:
            lines.append(f"| `{'`, `'.join(parts)}` | One part of `{target.name}` alone. |")
    text = (root / "README.md").read_text(encoding="utf-8")
    return text.partition(START)[0] + "\n".join([*lines, END]) + text.partition(END)[2]


if __name__ == "__main__":
    Path("README.md").write_text(renewed(Path()), encoding="utf-8")
