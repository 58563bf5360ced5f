"""Checks of the configuration: every problem is found at once, and named with key, value and what is allowed.

Imported by the Snakefile, which every remote job parses again: no numpy, scipy or pandas here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from segshuffle.errors import ConfigError
from segshuffle.pipeline.design import MSNBC_DOMAIN_SIZE, Config
from segshuffle.protocols.listed import schema as competitors_schema


def _is_integer(_checker: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**300


def _is_number(_checker: object, value: object) -> bool:
    if isinstance(value, int):
        # integers that no float can hold would crash every comparison later on
        return not isinstance(value, bool) and abs(value) < 10**300
    return isinstance(value, float) and math.isfinite(value)


# JSON schema takes 5000.0 for an integer and nan for a number; a count of users is neither
_STRICT: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer).redefine(
        "number", _is_number
    ),
)
#: Environment variable with the path of the user's own copy of the MSNBC file.
PATH_VARIABLE = "SEGSHUFFLE_MSNBC"


def load_config(path: Path, *, schema: Path) -> Config:
    """Read a configuration file and check it.

    Raises
    ------
    ConfigError
        If it cannot be read or is invalid.
    """
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    check_config(config, schema=schema, where=str(path))
    return dict(config)


def check_config(config: object, *, schema: Path, where: str = "config") -> None:
    """Check types, ranges, unknown keys and cross-references of a configuration.

    Raises
    ------
    ConfigError
        Lists every problem, one per line.
    """
    rules = yaml.safe_load(schema.read_text(encoding="utf-8"))
    rules["properties"]["competitors"] |= competitors_schema()
    validator = _STRICT(rules)
    found = sorted(validator.iter_errors(config), key=lambda error: [str(part) for part in error.absolute_path])
    problems = [_describe(error) for error in found]
    if not problems:
        assert isinstance(config, dict)
        problems = list(_cross_check(config))
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise ConfigError(f"{where} is not valid ({len(problems)} problem{'s' * (len(problems) > 1)}):\n{listed}")


def given_msnbc_path(config: Config, environ: Mapping[str, str]) -> Path | None:
    """Path of the user's own MSNBC file: environment variable, else configuration, else None.

    Raises
    ------
    ConfigError
        If there is no such file: a path that was given is never passed over.
    """
    for origin, value in (
        (f"environment variable {PATH_VARIABLE}", environ.get(PATH_VARIABLE)),
        ("msnbc.path", config["msnbc"]["path"]),
    ):
        if value:
            path = Path(value).expanduser()
            if not path.is_file():
                raise ConfigError(
                    f"{origin} = {value!r} is not allowed: there is no such file. Give the path of "
                    "msnbc990928.seq (.seq, .seq.gz or the UCI zip), or leave it empty to download it."
                )
            return path
    return None


def _describe(error: jsonschema.ValidationError) -> str:
    """One line for one schema violation: key, value, what is allowed, and a hint where YAML plays tricks."""
    key = ".".join(str(part) for part in error.absolute_path) or "top level"
    schema: Any = error.schema
    if error.validator == "additionalProperties":
        known = sorted(schema.get("properties", {}))
        instance: Any = error.instance
        unknown = sorted(set(instance) - set(known), key=str)
        return f"{key}: unknown key {', '.join(map(repr, unknown))}; known keys are {', '.join(known)}"
    if error.validator == "required":
        required: Any = error.validator_value
        present: Any = error.instance
        missing = [name for name in required if name not in present]
        return f"{key}: missing key {', '.join(missing)}"
    allowed = _allowed(schema, error)
    return f"{key} = {error.instance!r} is not allowed: it must be {allowed}{_yaml_hint(error.instance)}"


def _allowed(schema: Any, error: jsonschema.ValidationError) -> str:
    """The allowed range of a schema node, in words."""
    if error.validator == "uniqueItems":
        return "a list without repetition"
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if error.validator == "pattern":
        return "a name of lower-case letters, digits and hyphens"
    kinds = schema.get("type", "a value")
    words = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    limits = {
        "exclusiveMinimum": ">",
        "minimum": ">=",
        "maximum": "<=",
        "minItems": "of length >=",
        "maxItems": "of length <=",
    }
    bounds = [f"{sign} {schema[name]}" for name, sign in limits.items() if name in schema]
    return " ".join([f"of type {words}", *bounds])


def _yaml_hint(value: object) -> str:
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return ""
        return " (YAML reads 1e-6 as text: write 1.0e-6, without quotes)"
    if isinstance(value, bool):
        return " (YAML reads on, off, yes and no as true and false: use quotes for text)"
    return ""


def _cross_check(config: Config) -> Iterator[str]:
    """Problems between keys that a schema cannot express."""
    levels = config["levels"]
    if any(low >= high for low, high in pairwise(levels)):
        yield f"levels = {levels} is not allowed: the levels must be strictly increasing"
    for name, shares in config["splits"].items():
        if len(shares) != len(levels):
            yield f"splits.{name} = {shares} is not allowed: it must have one share per level ({len(levels)})"
        if not math.isclose(math.fsum(shares), 1.0, abs_tol=1e-9):
            total = math.fsum(shares)
            yield f"splits.{name} = {shares} is not allowed: the shares must sum to 1 (they sum to {total:g})"
    grid = config["blanket_per_user"]
    if grid["low"] >= grid["high"]:
        yield f"blanket_per_user.low = {grid['low']} is not allowed: it must be below high = {grid['high']}"
    yield from _check_sizes("msnbc", config["msnbc"], _msnbc_domains(config["msnbc"]))
    yield from _check_sizes("synthetic", config["synthetic"], [config["synthetic"]["domain_size"]] * 1000)
    for dataset in ("msnbc", "synthetic"):
        for n_users in config[dataset]["n_users"]:
            if config["delta_times_n"] >= n_users:
                yield (
                    f"delta_times_n = {config['delta_times_n']} is not allowed: delta = delta_times_n / n_users "
                    f"must be below 1, also for {dataset}.n_users = {n_users}"
                )
    if max(config["msnbc"]["n_users"]) > 989_818:
        yield f"msnbc.n_users = {config['msnbc']['n_users']} is not allowed: the data have 989818 users"


def _msnbc_domains(msnbc: Config) -> list[int]:
    """Domain size per set size: dummy padding adds s items."""
    dummy = msnbc["padding"] == "dummy"
    return [MSNBC_DOMAIN_SIZE + (size if dummy else 0) for size in msnbc["set_sizes"]]


def _check_sizes(dataset: str, section: Config, domains: list[int]) -> Iterator[str]:
    for size, domain in zip(section["set_sizes"], domains, strict=False):
        if size >= domain:
            yield f"{dataset}.set_sizes: {size} is not allowed: it must be below the domain size {domain}"
    for n_users in section["n_users"]:
        if n_users < 2:
            yield f"{dataset}.n_users: {n_users} is not allowed: it must be at least 2"
