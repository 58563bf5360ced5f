"""Put a run on one page; see segshuffle.page."""

from pathlib import Path

from segshuffle.page.build import build
from segshuffle.page.results import read_results
from segshuffle.pipeline.jobs import logged, write_atomically

with logged(snakemake.log[0]):
    given = snakemake.input
    folder = Path(given.provenance).parent
    results = read_results(folder, [Path(path).relative_to(folder).as_posix() for path in given.tables])
    figures = {Path(path).stem: Path(path).read_text(encoding="utf-8") for path in given.figures}
    text = build(results, figures)
    write_atomically(Path(snakemake.output[0]), text)
    print(f"{len(figures)} figures, {len(text.encode()) / 1e6:.1f} MB")
