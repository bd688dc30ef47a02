"""What rule files share: a job's settings and inputs as text, constraints of wildcards.

Reads and writes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable
from typing import Any

from snakemake.io import strip_wildcard_constraints

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
BRACES = {"{": "\\u007b", "}": "\\u007d"}
TESTED = (9, 27)


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint that allows these names and no other (nothing at all if there are none)."""
    return "|".join(map(re.escape, names)) or "(?!)"


def options(inputs: Any) -> list[str]:
    """The named inputs of a job as options of its script, without inputs that this job does not have."""
    words = []
    for name, files in inputs.items():
        words += [f"--{name.replace('_', '-')}", *([files] if isinstance(files, str) else files)]
    return words


def log_of(rule: str, output: str, results: str) -> str:
    """The log of a job below the folder `results`, with wildcards: its rule, and the parts of its output's path that
    have wildcards, without the file's ending.
    """
    folders = strip_wildcard_constraints(output).rpartition(f"{results}/")[2].split("/")
    parts = [part[: part.rindex("}") + 1] for part in folders if "{" in part]
    return f"{results}/logs/{'/'.join([rule, *parts])}.log"


def message_of(log: str) -> str:
    """The message of a job, with wildcards: the path of its log below logs/ in words."""
    return _job_of(log).replace("/", " ").replace("{", "{wildcards.")


def _job_of(log: str) -> str:
    return str(strip_wildcard_constraints(log).partition("/logs/")[2].removesuffix(".log"))


def complete(workflow: Any, results: str, measured: Container[str]) -> None:
    """Give each rule that runs a job what it does not state: a log and a message and, if it is one of the `measured`
    rules, a benchmark file named like its log. Rules of another workflow, if this is its module, remain as they are.
    """
    before, after = workflow.modifier.modify_rulename("*").split("*")  # how a module's rules are renamed
    for rule in workflow.rules:
        name = rule.name.removeprefix(before).removesuffix(after)
        if rule.output and not rule.log and "{log:q}" in (rule.shellcmd or ""):
            rule.log_modifier = rule.output_modifier
            rule.set_log(log_of(name, rule.output[0], results))
        log = str(rule.log[0]) if rule.log else ""
        if f"{results}/logs/" in log:
            rule.message = rule.message or message_of(log)
            if name in measured:
                rule.benchmark_modifier = rule.output_modifier
                rule.benchmark = f"{results}/benchmarks/{_job_of(log)}.tsv"


def settings(**values: Any) -> str:
    """A JSON object with sorted keys, so that only a changed value reruns the job.

    Braces in texts (labels, titles) are written as JSON escapes, since Snakemake would read {them} as wildcards.
    """
    text = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return STRING.sub(lambda string: re.sub("[{}]", lambda brace: BRACES[brace[0]], string[0]), text)


def newer_than_tested(version: str) -> str | None:
    """A warning if this version of Snakemake is newer than the tested one; else None."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if not numbers or tuple(map(int, numbers.groups())) <= TESTED:
        return None
    tested = ".".join(map(str, TESTED))
    return f"Snakemake {version} is newer than {tested}, with which this workflow was tested"
