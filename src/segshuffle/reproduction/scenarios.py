"""What a configuration runs: every population and every panel.

Every remote job parses the Snakefile, which imports this module. So it does not import numpy. These functions are not
in `design`, so that a script that only handles a scenario does not depend on the files of all datasets.
"""

from segshuffle.datasets.registry import dataset_of
from segshuffle.reproduction.design import Config, Scenario, Setting


def settings(config: Config) -> list[Setting]:
    """Return all populations of a configuration, in the order of the figures."""
    return [
        Setting(name, n_users, set_size, dataset_of(name).domain_size(section, set_size))
        for name, section in config["datasets"].items()
        for set_size in section["set_sizes"]
        for n_users in section["n_users"]
    ]


def scenarios(config: Config) -> list[Scenario]:
    """Return all panels of a configuration."""
    return [Scenario(setting, split) for setting in settings(config) for split in config["splits"]]
