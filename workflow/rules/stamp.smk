# Inputs: the configuration and every rule. Outputs: a stamp that says which configuration the folder belongs to, and
# digests of scripts.
from snakemake.logging import logger

from segshuffle.errors import ConfigError
from segshuffle.files import sha256_of, write_atomically
from segshuffle.reproduction.config import check_stamp, stamp_text


def configuration():
    """Name the files of the configuration: relative to the project if they lie there, else to the working directory."""
    names = []
    for file in map(Path, CONFIGFILES):
        inside = file.resolve().is_relative_to(ROOT)
        names.append(os.path.relpath(file.resolve(), ROOT if inside else Path()))
    return " + ".join(names) or "config/config.yaml"


def check_folder():
    """Refuse a folder with results of another configuration; say what has changed since the last run."""
    folders = {
        Path(file).relative_to(OUT).parts[0]
        for rule in workflow.rules
        for file in [*rule.output, *rule.log, *filter(None, [rule.benchmark])]
        if Path(file).is_relative_to(OUT)
    }
    if config["edition"] in folders:
        raise ConfigError(
            f"edition = {config['edition']!r} is not allowed: results/{config['edition']} holds a part of the "
            f"full run. Take any name but these: {', '.join(sorted(name for name in folders if '.' not in name))}."
        )
    changed = check_stamp(STAMP, file=configuration(), config=config)
    if changed and not workflow.dryrun:
        logger.warning(
            f"{configuration()} has changed since its last run: {', '.join(changed)}. What is not asked for now "
            f"stays in {OUT} as it was; without a target everything is brought up to date."
        )


def renew_stamp(log, *, others=workflow._onstart):
    """Write the folder's stamp, once jobs are about to run; then do what the workflow around this one does."""
    try:
        write_atomically(STAMP, stamp_text(file=configuration(), config=config))
    except SegshuffleError as error:
        raise WorkflowError(str(error))
    others(log)


def digest_scripts():
    """Let jobs depend on the content of their scripts, since the times of files change when a project is copied."""
    for each in workflow.rules:
        path = ROOT / "workflow/rules" / str(each.script)
        if path.is_file() and "script" not in each.params.keys():
            each.set_params(script=sha256_of(path))


digest_scripts()
# an `onstart:` of a module is never called
workflow._onstart = renew_stamp
STAMP = Path(OUT, "logs/configuration.yaml")
if workflow.is_main_process:
    try:
        check_folder()
    except SegshuffleError as error:
        raise WorkflowError(str(error))
