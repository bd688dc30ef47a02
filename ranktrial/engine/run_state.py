"""The state of a run: the numbers of planned, running and finished jobs of each rule; and the file that stores it.

Snakemake's process writes the file (results/state/progress/{experiment}.json) every few seconds, and `make status`
reads it. It also stores how long the jobs of each rule took, from which the next run estimates its time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from ranktrial.common.errors import UserError
from ranktrial.common.keys import given
from ranktrial.common.replacing import write_whole
from ranktrial.common.settings import read_settings
from ranktrial.common.strict_json import read_json

FOLDER = Path("results/state/progress")
Outcome = Literal["running", "finished", "failed", "stopped"]


@dataclass
class Rule:
    """The jobs of one rule."""

    stage: str
    total: Annotated[int, "jobs that this run has to do"]
    before: Annotated[float | None, "seconds that one took in earlier runs"] = None
    done: int = 0
    spent: Annotated[float, "seconds that its jobs took in this run, in sum"] = 0.0

    def expected(self) -> float | None:
        """The expected seconds of one job, from this run or an earlier one; None if unknown."""
        return self.spent / self.done if self.done else self.before


@dataclass(frozen=True)
class Running:
    """A job that is running or, on a cluster, was submitted."""

    rule: str
    since: float


@dataclass
class Run:
    """One run of Snakemake on an experiment; times are those of the clock."""

    experiment: str
    log: Annotated[str, "Snakemake's own"]
    side_by_side: Annotated[int, "jobs that run at a time at most"]
    host: Annotated[str, "the machine that Snakemake runs on"]
    pid: int
    started: float
    rules: dict[str, Rule] = field(default_factory=dict)
    running: Annotated[dict[str, Running], "by Snakemake's number of the job"] = field(default_factory=dict)
    failed: Annotated[dict[str, str], "number of a failed job: its rule"] = field(default_factory=dict)
    queue: Annotated[dict[str, str], "on a cluster, number of a job: why it waits; empty if it runs"] = field(
        default_factory=dict
    )
    under_way: Annotated[str, "what a job is that began, while the queue does not say more"] = "running"
    ended: float | None = None
    outcome: Outcome = "running"

    def plan(self, stages: Mapping[str, str], jobs: Mapping[str, int]) -> None:
        """Set the plan: the stage of each rule, and the number of its jobs."""
        earlier = _earlier(self.experiment)
        self.rules = {name: Rule(rule.stage, 0, rule.expected()) for name, rule in earlier.items()}
        for name, stage in stages.items():
            known = earlier[name].expected() if name in earlier else None
            self.rules[name] = Rule(stage, jobs[name], known or _benchmarked(self.experiment, name))

    def start(self, job: str, rule: str) -> None:
        """Record that a job begins, for the first time or again."""
        self.failed.pop(job, None)
        self.queue.pop(job, None)
        self.running[job] = Running(rule, time.time())

    def finish(self, job: str) -> None:
        """Record that a job is done."""
        if (one := self.running.pop(job, None)) and (rule := self.rules.get(one.rule)):
            rule.done += 1
            rule.spent += time.time() - one.since

    def fail(self, job: str) -> None:
        """Record that a job failed."""
        if one := self.running.pop(job, None):
            self.failed[job] = one.rule

    def end(self, outcome: Outcome) -> None:
        """Record that the run is over."""
        self.ended, self.outcome, self.running = time.time(), outcome, {}


def place(experiment: str) -> Path:
    """The file of an experiment's last run."""
    return FOLDER / f"{experiment}.json"


def write(run: Run) -> None:
    """Write the state of a run."""
    write_whole(place(run.experiment), json.dumps(given(run)).encode())


def read(experiment: str) -> Run:
    """The last run of an experiment in this folder. Raises UserError if there was none."""
    if not place(experiment).is_file():
        recorded = ", ".join(sorted(path.stem for path in FOLDER.glob("*.json"))) or "none"
        raise UserError(f"{experiment}: no run of it has started in this folder; there are runs of: {recorded}")
    return read_settings(Run, read_json(place(experiment)), str(place(experiment)))


def _earlier(experiment: str) -> dict[str, Rule]:
    """The rules of the experiment's last run; empty if there was none, or its file cannot be read."""
    try:
        return read(experiment).rules
    except UserError:
        return {}


def _benchmarked(experiment: str, rule: str) -> float | None:
    """The mean seconds in a rule's benchmark files: of the experiment or, if it has none, of all others."""
    for folder in (experiment, "*"):
        files = [*Path("results").glob(f"{folder}/benchmarks/{rule}/**/*.tsv")]
        if seconds := [found for found in map(_seconds, files) if found is not None]:
            return sum(seconds) / len(seconds)
    return None


def _seconds(benchmark: Path) -> float | None:
    """The first column, `s`, of a benchmark file; None while a job is writing it."""
    try:
        return float(benchmark.read_text(encoding="utf-8").splitlines()[1].split("\t")[0])
    except (OSError, ValueError, IndexError):
        return None
