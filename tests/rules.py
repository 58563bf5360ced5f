"""All rules of a configuration, as the Snakefile has them."""

from segshuffle.pipeline import frame, manifest
from segshuffle.pipeline.scenarios import scenarios


def rules_of(config):
    panels = scenarios(config)
    given = dict.fromkeys(config["datasets"])
    return frame.rules(config, panels, manifest.rules(config, panels), given=given, looks=False, commit="x")
