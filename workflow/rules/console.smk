# Inputs: what Snakemake says. Outputs: one line per job on the console; all that it says is in its log file as ever.
#
# A line says how many of all jobs are finished, the time so far, about how long the rest takes, and what was made: the
# docstring of the rule and the wildcards. A dry run, --verbose, --quiet, another logger and the jobs of a cluster keep
# Snakemake's own words.
import logging
import time
from datetime import timedelta
from pathlib import Path

from snakemake.logging import logger

# first words of the messages that Snakemake and its Slurm plugin print in every run; these are not shown
USUAL = (
    "Assuming unrestricted shared filesystem",
    "Building DAG of jobs",
    "Cleaning up SLURM log files",
    "Conda environments: ignored",
    "Elapsed time",
    "No SLURM account given",
    "No account was given",
    "SLURM run ID",
    "Select jobs to execute",
    "Unable to guess SLURM account",
    "Using shell",
)
# rule -> seconds of its longest job, for the rules of jobs.smk
SECONDS = {}
# events that are not shown: they are for the log file, or the console tells them in fewer words
EVENTS = (
    "workflow_started",
    "resources_info",
    "job_started",
    "shellcmd",
)


class Console(logging.Formatter):
    """Snakemake's records as lines for people."""

    def __init__(self):
        super().__init__()
        self.began = time.monotonic()
        self.makes = {}
        self.rules = {}
        self.jobs = 0
        self.finished = 0
        self.work = self.done = 0.0

    def filter(self, record):
        """Leave out what is said in every run."""
        event, said = getattr(record, "event", None), str(record.msg)
        if event == "error":
            # a job that fails prints its own error; a killed one has another status
            return not said.endswith("returned non-zero exit status 1.")
        if event == "progress":
            return record.done == record.total
        if event == "job_info":
            self.begin(record)
            return False
        return event not in EVENTS and not said.startswith(USUAL)

    def format(self, record):
        """Format a record by the method with the name of its event; leave other records as they are."""
        tell = getattr(self, str(getattr(record, "event", None)), None)
        return tell(record) if tell else record.getMessage()

    def elapsed(self):
        """Return the time so far, in whole seconds."""
        return timedelta(seconds=int(time.monotonic() - self.began))

    def run_info(self, record):
        """Say how many jobs there are, and where Snakemake's messages are."""
        self.jobs = record.stats["total"]
        self.work = sum(
            seconds_of(rule) * count
            for rule, count in record.stats.items()
            if rule != "total"
        )
        logs = [
            each.baseFilename
            for each in logger.handlers
            if hasattr(each, "baseFilename")
        ]
        return f"{self.jobs} jobs (Snakemake's messages: {', '.join(logs)})"

    def begin(self, record):
        """Note what a job makes."""
        explained = workflow.get_rule(record.rule_name).docstring
        what = record.rule_msg or explained or record.rule_name
        what = what.partition(". ")[0].rstrip(".")
        values = ", ".join(map(str, record.wildcards.values()))
        self.makes[record.jobid] = f"{what}: {values}" if values else what
        self.rules[record.jobid] = record.rule_name

    def job_finished(self, record):
        """Say how many jobs are finished, what this one has made, and about how long the others take."""
        self.finished += 1
        self.done += seconds_of(self.rules.get(record.job_id))
        so_far, left = self.elapsed(), ""
        # the first jobs are short and say little of the others
        if self.done > 0.05 * self.work:
            rest = so_far.total_seconds() * (self.work / self.done - 1)
            left = f", about {timedelta(seconds=int(rest))} left"
        number = f"{self.finished:>{len(str(self.jobs))}} of {self.jobs}"
        return f"{number}  {so_far}{left}  {self.makes.get(record.job_id, '')}"

    def progress(self, _record):
        """Say that all jobs are done."""
        return f"all {self.jobs} done in {self.elapsed()}"

    def job_error(self, record):
        """Say which job failed, and where to look; a job on this machine has said why."""
        what = self.makes.get(record.jobid, record.rule_name)
        lines = [f"FAILED after {self.elapsed()}: {what}"]
        logs = [Path(log) for log in record.log if Path(log).exists()]
        if not workflow.local_exec:
            lines += [
                log.read_text(errors="replace").strip().rpartition("\n")[2]
                for log in logs
            ]
        lines += [f"    log: {log}" for log in logs]
        lines += [f"    {name}: {value}" for name, value in record.aux.items()]
        return "\n".join(lines)


def pointed(record):
    """Tell a user who asks for an unknown target which command lists all targets."""
    said, menu = str(record.msg), "`snakemake --list` shows every target."
    if "MissingRuleException" in said and menu not in said:
        record.msg = f"{said}\n{menu}"
    return True


def seconds_of(rule):
    """Return about how long a job of a rule takes; rules without an entry have short jobs."""
    return SECONDS.get(rule, 0.1)


for handler in logger.handlers:
    handler.addFilter(pointed)

if workflow.is_main_process and not (
    workflow.output_settings.dryrun
    or workflow.output_settings.verbose
    or workflow.output_settings.quiet
):
    for handler in logger.handlers:
        if handler.name == "DefaultStreamHandler":
            CONSOLE = Console()
            handler.filters = [CONSOLE, pointed]
            handler.setFormatter(CONSOLE)
