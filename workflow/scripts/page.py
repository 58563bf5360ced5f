"""Put a run on one page; see segshuffle.page."""

from pathlib import Path

from segshuffle.page.build import build
from segshuffle.page.results import read_results
from segshuffle.pipeline.jobs import logged, write_atomically

with logged(snakemake.log[0]):
    given = snakemake.input
    results = read_results(
        errors=Path(given.errors),
        summary=Path(given.summary),
        claims=Path(given.claims),
        audit=Path(given.audit),
        limit=Path(given.limit),
        levels=[Path(path) for path in given.levels],
        runtimes=Path(given.runtimes),
        provenance=Path(given.provenance),
        config=Path(given.config),
        amplification_claims=Path(given.amplification[0]) if given.amplification else None,
        referee=Path(given.referee),
    )
    figures = {Path(path).stem: Path(path).read_text(encoding="utf-8") for path in given.figures}
    text = build(results, figures)
    write_atomically(Path(snakemake.output[0]), text)
    print(f"{len(figures)} figures, {len(text.encode()) / 1e6:.1f} MB")
