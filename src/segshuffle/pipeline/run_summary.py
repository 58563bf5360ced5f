"""The closing text of a run: where the results are, verdicts, run times, and stand-in data."""

import json
import sys
from pathlib import Path

import pandas as pd
import yaml

from segshuffle.datasets.registry import dataset_label
from segshuffle.pipeline.design import output_folder


def summary_of(root: Path) -> str:
    """Return a text about the finished run in `root`."""
    claims = pd.read_csv(root / "claims.csv")
    runtimes = pd.read_csv(root / "runtimes.csv").sort_values("seconds_total", ascending=False)
    data = json.loads((root / "provenance.json").read_text(encoding="utf-8"))["data"]
    counts = ", ".join(f"{count} {verdict}" for verdict, count in claims["verdict"].value_counts().items())
    slowest = ", ".join(f"{row['rule']} {row['seconds_total']:.0f} s" for row in runtimes.head(4).to_dict("records"))
    lines = [
        "",
        f"page      {root}/index.html (everything on one page: open it in a browser)",
        f"figures   {root}/figures/ (PDF, SVG, PNG)",
        f"numbers   {root}/mse.csv (columns: {root}/README.md)",
        f"verdicts  {root}/claims.md: {counts}",
        f"time      {runtimes['seconds_total'].sum():.0f} s of jobs: {slowest} ({root}/runtimes.csv)",
        f"record    {root}/provenance.json",
    ]
    for name, source in data.items():
        label = dataset_label(name, "real")
        if source["kind"] == "real":
            lines.append(f"data      {label}: the real data, verified ({source['origin']})")
        else:
            reason = str(source["reason"]).splitlines()[0]
            lines.append(f"data      {label} is a STAND-IN, not the real data: {reason}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Print the words for a configuration file."""
    config = yaml.safe_load(Path(arguments[0]).read_text(encoding="utf-8"))
    print(summary_of(Path(output_folder(config))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
