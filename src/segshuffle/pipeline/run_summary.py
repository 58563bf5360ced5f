"""The closing text of a run: where the results are, verdicts, run times, and stand-in data."""

import json
import sys
from pathlib import Path

import pandas as pd
import yaml

from segshuffle.pipeline.design import output_folder
from segshuffle.pipeline.provenance import data_words


def summary_of(root: Path) -> str:
    """Return a text about the finished run in `root`."""
    claims = pd.read_csv(root / "claims.csv")
    data = json.loads((root / "provenance.json").read_text(encoding="utf-8"))["data"]
    counts = ", ".join(f"{count} {verdict}" for verdict, count in claims["verdict"].value_counts().items())
    lines = [
        "",
        f"page      {root}/index.html (everything on one page: open it in a browser)",
        f"figures   {root}/figures/ (PDF, SVG, PNG)",
        f"numbers   {root}/mse.csv (columns: {root}/README.md)",
        f"verdicts  {root}/claims.md: {counts}",
        f"time      {pd.read_csv(root / 'runtimes.csv')['seconds_total'].sum():.0f} s of jobs ({root}/runtimes.csv)",
        f"record    {root}/provenance.json",
        *(f"data      {sentence}" for sentence in data_words(data)),
    ]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Print the words for a configuration file."""
    config = yaml.safe_load(Path(arguments[0]).read_text(encoding="utf-8"))
    print(summary_of(Path(output_folder(config))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
