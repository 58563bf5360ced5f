"""The configuration to which a folder of results belongs: two configurations never write into one folder.

Imported by the Snakefile: no numpy, scipy or pandas here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from segshuffle.errors import ConfigError
from segshuffle.pipeline.design import Config, without_paths

#: The configuration whose edition is "full", relative to the project.
SHIPPED = "config/config.yaml"


def check_stamp(stamp: Path, *, file: str, config: Config) -> list[str]:
    """Refuse a folder that another configuration file has filled.

    Parameters
    ----------
    stamp : Path
        The folder's stamp, which need not exist.
    file : str
        Configuration file, relative to the project where it is inside.
    config : dict
        Effective configuration.

    Returns
    -------
    list of str
        Keys that were edited since the last run of the same file; all that depends on them is made again when needed.

    Raises
    ------
    ConfigError
        If another file with other values filled the folder, or if another file has the edition of one in `SHIPPED`.
    """
    name = Path(file).stem
    if config["edition"] == "full" and file != SHIPPED:
        raise ConfigError(
            f"{file}: edition = 'full' is not allowed: it is {SHIPPED}'s, which writes into results/. Give this "
            f"configuration a name of its own, such as {name!r}: its run goes to results/{name}/."
        )
    if not stamp.exists():
        return []
    earlier = yaml.safe_load(stamp.read_text(encoding="utf-8"))
    changed = sorted(_changed(earlier["config"], without_paths(config)))
    if changed and earlier["file"] != file:
        raise ConfigError(
            f"{file}: edition = {config['edition']!r} is not allowed: its folder has results of {earlier['file']}, "
            f"which has other values of {', '.join(changed)} ({stamp}). Give this configuration another edition, or "
            "remove that folder."
        )
    return changed


def stamp_text(*, file: str, config: Config) -> str:
    """Return the text of the stamp: the file, and the effective configuration without paths of data on this machine."""
    return yaml.safe_dump({"file": file, "config": without_paths(config)}, sort_keys=False)


def _changed(one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> list[str]:
    """List the keys with different values, with a dot between levels."""
    found = []
    for key in {**one, **other}:
        before, after = one.get(key), other.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            found += _changed(before, after, f"{prefix}{key}.")
        elif before != after:
            found.append(f"{prefix}{key}")
    return found
