"""Checks of the configuration: each problem is named with key, value and what is allowed.

A folder of results is stamped with its configuration file; another file with other values is refused there.
``python -m segshuffle.reproduction.config FILE`` says why a file cannot be read; Snakemake alone would end in a
traceback.

Every remote job parses the Snakefile, which imports this module. So it does not import numpy, scipy or pandas.
"""

import math
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from segshuffle.datasets import registry
from segshuffle.errors import ConfigError, DataError, similar
from segshuffle.files import read_bounded
from segshuffle.plans.listed import schemas as method_schemas
from segshuffle.reproduction.captions import exhibits
from segshuffle.reproduction.design import Config, without_paths
from segshuffle.reproduction.tables import read_yaml

#: The configuration whose edition is "full", relative to the project.
SHIPPED = "config/config.yaml"


def _is_integer(_checker: object, value: object) -> bool:
    return isinstance(value, int) and _is_number(_checker, value)


def _is_number(_checker: object, value: object) -> bool:
    # integers that no float can hold would crash every comparison later on
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**300


def _matches(
    _validator: object, pattern: str, instance: object, _schema: object
) -> Iterator[jsonschema.ValidationError]:
    # by search, "quick" and a line end would match ^[a-z]+$
    if isinstance(instance, str) and not re.fullmatch(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


# JSON schema takes 5000.0 for an integer and nan for a number, and a line end after a name; here all are refused
_STRICT: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    {"pattern": _matches},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer).redefine(
        "number", _is_number
    ),
)


class _Loader(yaml.SafeLoader):
    """YAML in which no key stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError("a key must be a word or a number", key.start_mark)
            if key.value in seen:
                raise yaml.MarkedYAMLError(f"the key {key.value!r} stands here twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_config(path: Path) -> Any:
    """Read a configuration file.

    Raises
    ------
    ConfigError
        If there is no such file, or it is not a text in YAML of at most 1 MB; names the line.
    """
    try:
        return yaml.load(read_bounded(path, limit=2**20), _Loader)
    except RecursionError:
        reason = "lists or sections are nested too deep"
    except (DataError, yaml.YAMLError, ValueError) as error:  # ValueError: a date or number that cannot be
        reason = " ".join(str(error).split())
    raise ConfigError(f"{path}: cannot be read: {reason}. Give the path of a configuration in YAML, a text in UTF-8.")


def check_config(config: object, *, schema: Path, where: str = "config") -> None:
    """Check types, ranges, unknown keys and cross-references of a configuration.

    Keys that the section of a dataset leaves out are then set to their defaults.

    Raises
    ------
    ConfigError
        Lists problems, one per line: those of single keys, or else those between keys.
    """
    validator = _STRICT(whole_schema(schema))
    errors = sorted(validator.iter_errors(config), key=lambda error: [str(part) for part in error.absolute_path])
    problems = [_describe(error) for error in errors]
    if not problems:
        assert isinstance(config, dict)
        registry.complete(config["datasets"])
        problems = list(_cross_check(config))
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise ConfigError(f"{where} is not valid ({len(problems)} problem{'s' * (len(problems) > 1)}):\n{listed}")


def whole_schema(schema: Path) -> dict[str, Any]:
    """Return the rules of every key: the schema file's, and those that the files of protocols and datasets declare."""
    rules: dict[str, Any] = read_yaml(schema)
    for section, properties in method_schemas().items():
        rules["properties"][section]["properties"] |= properties
    rules["properties"]["datasets"] |= registry.schema()
    return rules


def _describe(error: jsonschema.ValidationError) -> str:
    """Describe one schema violation in one line: key, value, what is allowed, a hint if a number was read as text."""
    key = ".".join(map(str, error.absolute_path)) or "top level"
    schema: Any = error.schema
    known = ""
    if error.validator == "additionalProperties":
        known = f"; known keys are {', '.join(sorted(schema.get('properties', {})))}"
    if (
        error.validator == "required"
        and key.startswith("datasets.")
        and (name := key.partition(".")[2]) not in registry.every()
    ):
        known = f"; {name} is no dataset of the package{similar(name, registry.every())}, so it is a file of your own"
    is_number = isinstance(error.instance, str) and re.fullmatch(r"[\d.]+e[+-]?\d+", error.instance)
    hint = " (YAML reads 1e-6 as text: write 1.0e-6, without quotes)" if is_number else ""
    return f"{key}: {error.message}{known}{hint}"


def _cross_check(config: Config) -> Iterator[str]:
    """Yield problems between keys that a schema cannot express."""
    yield from _check_levels(config)
    grids = {"blanket_grid": config["blanket_grid"]}
    for name, section in config["datasets"].items():
        yield from _check_dataset(name, section, config)
        if "blanket_grid" in section:
            grids[f"datasets.{name}.blanket_grid"] = section["blanket_grid"]
    for key, grid in grids.items():
        if grid["low"] >= grid["high"]:
            yield f"{key}.low = {grid['low']} is not allowed: it must be below high = {grid['high']}"
    for name in config["amplification"].get("exhibits", []):
        if name not in exhibits():
            yield f"amplification.exhibits: {name!r} is not allowed: it must be one of {', '.join(exhibits())}"
    if "readings" in config["parts"] and "msnbc" not in config["datasets"]:
        yield "parts: readings is not allowed without datasets.msnbc: its choices are about the paper's log. Remove it"


def _check_levels(config: Config) -> Iterator[str]:
    """Yield problems of levels, and of what has a number per level."""
    levels = config["levels"]
    if any(low >= high for low, high in pairwise(levels)):
        yield f"levels = {levels} is not allowed: the levels must be strictly increasing"
    if (chosen := config["pareto"]["split"]) not in config["splits"]:
        yield f"pareto.split = {chosen!r} is not allowed: it must be one of {', '.join(config['splits'])}"
    deltas = config["delta_times_n"]
    if isinstance(deltas, list) and len(deltas) != len(levels):
        yield (
            f"delta_times_n = {deltas} is not allowed: it must be one number for all levels, or a list of one per "
            f"level ({len(levels)})"
        )
    for name, shares in config["splits"].items():
        if len(shares) != len(levels):
            yield f"splits.{name} = {shares} is not allowed: it must have one share per level ({len(levels)})"
        if not math.isclose(total := math.fsum(shares), 1.0, abs_tol=1e-9):
            yield f"splits.{name} = {shares} is not allowed: the shares must sum to 1 (they sum to {total:g})"


def _check_dataset(name: str, section: Config, config: Config) -> Iterator[str]:
    """Yield problems of one dataset: sets, users, and delta."""
    dataset = registry.dataset_of(name)
    domains = [dataset.domain_size(section, size) for size in section["set_sizes"]]
    for size, domain in zip(section["set_sizes"], domains, strict=True):
        if size >= domain:
            yield f"datasets.{name}.set_sizes: {size} is not allowed: it must be below the domain size {domain}"
    delta = config["delta_times_n"]
    for n_users in section["n_users"]:
        if max(delta if isinstance(delta, list) else [delta]) >= n_users:
            yield (
                f"delta_times_n = {delta} is not allowed: delta = delta_times_n / n_users must be below 1, "
                f"also for datasets.{name}.n_users = {n_users}"
            )


def check_stamp(stamp: Path, *, file: str, config: Config) -> list[str]:
    """Refuse a folder that another configuration file has filled.

    Parameters
    ----------
    stamp : Path
        The folder's stamp, which need not exist.
    file : str
        Configuration file, relative to the project.
    config : dict
        Effective configuration.

    Returns
    -------
    list of str
        Sections that were edited since the last run of the same file. What depends on them is made again if asked for.

    Raises
    ------
    ConfigError
        If another file with other values filled the folder, or a file other than `SHIPPED` has the edition "full".
    """
    name = Path(file).stem
    if config["edition"] == "full" and file != SHIPPED:
        raise ConfigError(
            f"{file}: edition = 'full' is not allowed: it is {SHIPPED}'s, which writes into results/. Give this "
            f"configuration a name of its own, such as {name!r}: its run goes to results/{name}/."
        )
    if not stamp.exists():
        return []
    earlier = read_yaml(stamp)
    before, now = earlier["config"], without_paths(config)
    changed = sorted(key for key in {**before, **now} if before.get(key) != now.get(key))
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


def main(arguments: list[str]) -> int:
    """Say why a configuration file cannot be read."""
    if len(arguments) != 1:
        print("Give one path: python -m segshuffle.reproduction.config FILE", file=sys.stderr)
        return 2
    try:
        read_config(Path(arguments[0]))
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
