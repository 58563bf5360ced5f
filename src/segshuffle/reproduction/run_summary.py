"""The closing text of a run: where the results are, verdicts, run times, and stand-in data."""

import sys
from pathlib import Path

import pandas as pd

from segshuffle.reproduction.design import output_folder
from segshuffle.reproduction.provenance import data_sentences
from segshuffle.reproduction.tables import read_json, read_yaml


def main(arguments: list[str]) -> int:
    """Print a text about the finished run of a configuration file."""
    if len(arguments) != 1:
        print("Give one path: python -m segshuffle.reproduction.run_summary FILE", file=sys.stderr)
        return 2
    root = Path(output_folder(read_yaml(arguments[0])))
    verdicts = pd.read_csv(root / "claims.csv")["verdict"].value_counts()
    data = read_json(root / "provenance.json")["data"]
    lines = [
        "",
        f"page      {root}/index.html (everything on one page: open it in a browser)",
        f"figures   {root}/figures/ (PDF, SVG, PNG)",
        f"numbers   {root}/mse.csv (columns: {root}/CONTENTS.md)",
        f"verdicts  {root}/claims.md: {', '.join(f'{count} {verdict}' for verdict, count in verdicts.items())}",
        f"time      {pd.read_csv(root / 'runtimes.csv')['seconds_total'].sum():.0f} s of jobs ({root}/runtimes.csv)",
        f"record    {root}/provenance.json",
        *(f"data      {sentence}" for sentence in data_sentences(data)),
    ]
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
