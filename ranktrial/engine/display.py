"""The state of a run, and its progress as lines: one for the run, one per stage, the results at its end.

The lines are redrawn on a terminal. A log gets few lines, one after another. Reads summary.md for the last lines.

The state has the numbers of planned, running and finished jobs of each rule; and the file that stores it.

Snakemake's process writes the file (results/state/progress/{experiment}.json) every few seconds, and `make status`
reads it. It also stores how long the jobs of each rule took, from which the next run estimates its time.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal, TextIO

from ranktrial.common.errors import UserError
from ranktrial.common.keys import given
from ranktrial.common.ledger import write_whole
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


WORDS = {
    "": "no reason given yet",
    "None": "no reason given yet",
    "Priority": "others are before it",
    "Resources": "for free resources",
    "Dependency": "for another job",
    "BeginTime": "put back into the queue for some minutes",
    "Licenses": "for a licence",
    "Cleaning": "its nodes are cleaned after a failure",
    "Reservation": "for its reservation",
    "PartitionTimeLimit": "time limit above that of the partition",
    "PartitionNodeLimit": "more nodes than the partition allows",
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is inactive",
    "BadConstraints": "no node is as requested",
    "JobHeldAdmin": "held by an administrator",
    "JobHeldUser": "held by the user",
    "JobLaunchFailure": "could not be started",
    "launch failed requeued held": "could not be started, held",
    "ReqNodeNotAvail": "nodes are down, drained or reserved",
    "InvalidAccount": "the account is invalid",
    "InvalidQOS": "the QOS is invalid",
}
LASTING = re.compile(  # reasons that another job's end does not change
    r"PartitionTimeLimit|PartitionNodeLimit|BadConstraints|JobHeld|JobLaunchFailure|launch failed|Invalid"
    r"|(?:Assoc|QOS)Max\w*(?:PerJob|PerNode|WallDuration|MinutesPerJob)"
)
STAGES = {  # in the order of display; a file that no stage names is a stage of its own
    "datasets": ("downloads", "datasets", "generated_queries"),
    "BM25": ("bm25_index", "bm25_search"),
    "negatives": ("negatives",),
    "training": ("training", "selection"),
    "features": ("features",),
    "encoding": ("encoding",),
    "ranking": ("ranking", "fusion", "out-of-fold", "learning-to-rank", "listwise", "command"),
    "scoring": ("evaluation", "judge"),
    "effects": ("synthesis", "details", "transfer", "study_design"),
    "figures and tables": ("tables", "figures"),
    "pages": ("pages", "report", "explorer", "archive"),
}
STEP = 0.1  # share of a stage's jobs below which a log gets no line
ERASE = "\r\x1b[{}A\x1b[J"  # move to the first of the drawn lines and clear from there
OFTEN = 30.0  # minimum seconds between two lines of a log about one stage
USUAL = 80, 24  # columns and rows of a terminal of unknown size
PAGES = ("report.html", "explorer/index.html", "summary.md", "figures")
MOST = 3  # sentences of the first comparison: on these collections, over collections like these, in a new one
FURTHER = 4  # other comparisons, of which the first two sentences are shown in one line
QUESTION = re.compile(r"^(?:#+ |\*\*)(.*\?)(?: \(.*\)|\*\*)?$", re.MULTILINE)
ANSWER = re.compile(r"^- \*\*.*?\*\* (.*)$", re.MULTILINE)
ESCAPE = re.compile(r"\\(\W)")


def in_words(reason: str) -> str:
    """Slurm's reason in words; one that is a limit, or not known, in Slurm's own."""
    name = reason.strip("()").partition(",")[0]
    if name.startswith(("QOS", "Assoc")):
        return f"limit of the {'QOS' if name.startswith('QOS') else 'account or user'}: {name}"
    return WORDS.get(name, name)


def lasts(reason: str) -> bool:
    """Whether a job with this reason waits until somebody changes something."""
    return bool(LASTING.search(reason))


def stage_of(rule_file: str) -> str:
    """The stage of the rules in a file, by the file's name without its ending."""
    return next((stage for stage, files in STAGES.items() if rule_file in files), rule_file)


@dataclass(frozen=True)
class Stage:
    """The jobs of a stage; `left` is the remaining time in seconds, None if unknown."""

    name: str
    total: int
    done: int
    running: int
    failed: int
    left: float | None
    under_way: str = "running"
    seen: tuple[str, ...] = ()  # on a cluster, why each job that the queue lists waits; empty if it runs

    @property
    def to_come(self) -> int:
        """The number of jobs that have not begun."""
        return max(self.total - self.done - self.running - self.failed, 0)


def stages(run: Run, now: float) -> list[Stage]:
    """The stages that have jobs in a run, in their order."""
    order = list(STAGES)
    names = dict.fromkeys(rule.stage for rule in run.rules.values() if rule.total)
    ordered = sorted(names, key=lambda name: order.index(name) if name in order else len(order))
    return [_stage(name, [rule for rule, one in run.rules.items() if one.stage == name], run, now) for name in ordered]


def whole(run: Run, now: float) -> Stage:
    """All jobs of a run together, as if each stage waited for the one before."""
    left = [stage.left for stage in stages(run, now)]
    known = sum(one for one in left if one is not None) if None not in left else None
    return replace(_stage(run.experiment, list(run.rules), run, now), left=known)


def _stage(name: str, rules: list[str], run: Run, now: float) -> Stage:
    known = [run.rules[rule] for rule in rules]
    total, done = sum(rule.total for rule in known), sum(rule.done for rule in known)
    began = [number for number, job in run.running.items() if job.rule in rules]
    seen = tuple(run.queue[number] for number in began if number in run.queue)
    failed = sum(rule in rules for rule in run.failed.values())
    work = [_work(rule, run, now) for rule in rules]
    at_a_time = max(min(run.side_by_side, total - done - failed), 1)
    left = sum(one for one in work if one is not None) / at_a_time if None not in work and not run.ended else None
    return Stage(name, total, done, len(began), failed, left, run.under_way, seen)


def _work(name: str, run: Run, now: float) -> float | None:
    """The remaining seconds of a rule's jobs, one after the other; None if unknown, before its first job is done."""
    rule, began = run.rules[name], [job.since for job in run.running.values() if job.rule == name]
    failed = sum(rule == name for rule in run.failed.values())
    waiting = max(rule.total - rule.done - failed - len(began), 0)
    if not waiting and not began:
        return 0.0
    if (each := rule.expected()) is None:
        return None
    return waiting * each + sum(max(each - (now - since), 0.0) for since in began)


def line(stage: Stage) -> str:
    """A stage as a line."""
    said = f"{stage.name:<18}  {stage.done} of {stage.total} done"
    waiting = Counter(map(in_words, filter(None, stage.seen)))
    counts = Counter({"running": len(stage.seen) - waiting.total()})
    counts[stage.under_way] += stage.running - len(stage.seen)
    counts |= Counter({f"waiting ({reason})": number for reason, number in waiting.items()})
    counts |= Counter({"to come": stage.to_come, "failed": stage.failed})
    said += "".join(f", {number} {what}" for what, number in counts.items() if number)
    return said + (_left(stage) if stage.running else "")  # one that waits for others may begin at any time


def heading(run: Run, now: float) -> str:
    """A run as a line."""
    every = whole(run, now)
    if not run.ended and not every.done:
        return f"{run.experiment}: {_jobs(every.total)} to do{_left(every)}"
    said = (
        f"{run.experiment}: {every.done} of {_jobs(every.total)} done in {duration((run.ended or now) - run.started)}"
    )
    return said + _left(every)


def _jobs(number: int) -> str:
    return f"{number} job{'' if number == 1 else 's'}"


def _left(stage: Stage) -> str:
    """The time left; empty if jobs take longer than estimated."""
    unfinished = stage.running + stage.to_come
    return f", about {duration(stage.left)} left" if unfinished and stage.left else ""


def duration(seconds: float) -> str:
    """A duration as text."""
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def news(shown: Stage | None, stage: Stage, waited: bool) -> bool:
    """Whether a log gets a line: when a stage begins or ends and, after a while, when it progressed by a tenth.

    `shown` is the stage in its last line.
    """
    if shown is None or (shown.running, shown.done, shown.failed) == (stage.running, stage.done, stage.failed):
        return False
    begins = not shown.running + shown.done
    ends = not stage.running + stage.to_come
    return begins or ends or (waited and stage.done - shown.done >= STEP * stage.total)


class Display:
    """Shows runs on a stream."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.in_place = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.drawn = 0  # number of lines to be replaced by the next ones
        self.shown: dict[
            str, tuple[Stage, float]
        ] = {}  # the stages at their last lines in a log, and the time of these

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.erase()
        print(text, file=self.stream, flush=True)

    def erase(self) -> None:
        """Erase the drawn lines, to print lines that stay."""
        if self.drawn:
            self.stream.write(ERASE.format(self.drawn))
            self.drawn = 0

    def show(self, run: Run) -> None:
        """Show the progress of a run."""
        now = time.time()
        if self.in_place:
            self._draw([heading(run, now), *map(line, stages(run, now))])
        else:
            self._log(run, now)

    def _draw(self, lines: list[str]) -> None:
        """Draw the lines in place of the last ones; on a small terminal, only the first of them."""
        columns, rows = os.get_terminal_size(self.stream.fileno())
        columns, rows = columns or USUAL[0], rows or USUAL[1]
        kept = [one[: max(columns - 1, 1)] for one in lines[: max(rows - 1, 1)]]
        self.erase()
        self.stream.write("".join(f"{one}\n" for one in kept))
        self.stream.flush()
        self.drawn = len(kept)

    def _log(self, run: Run, now: float) -> None:
        """Print the stages with news; at first, all of them."""
        if not self.shown:
            self.say(heading(run, now))
        for stage in stages(run, now):
            before, at = self.shown.get(stage.name, (None, 0.0))
            ends_early = bool(run.ended and stage.to_come + stage.failed)
            if before is None or ends_early or news(before, stage, now - at >= OFTEN):
                self.shown[stage.name] = stage, now
                self.say(f"{time.strftime('%H:%M:%S', time.localtime(now))}  {line(stage)}")
        if run.ended:
            self.say(heading(run, now))


def conclusions(summary: str) -> list[str]:
    """The question and the answers of the first comparison, and two of each other; empty without any."""
    asked = [
        (question[1], answers)
        for question in QUESTION.finditer(summary)
        if (answers := ANSWER.findall(summary[question.end() :].strip().split("\n\n")[0]))
    ]
    if not asked:
        return []
    (first, answers), *others = asked
    further = [" ".join(of[:2]) for _, of in others]
    said = [first, *answers[:MOST], *further[:FURTHER]]
    said += [f"further comparisons in the report: {len(further) - FURTHER}"] if len(further) > FURTHER else []
    return [ESCAPE.sub(r"\1", text) for text in said]


def ending(results: Path) -> list[str]:
    """The last lines for an experiment's folder; empty before there is a report."""
    pages = [str(results / page) for page in PAGES if (results / page).exists()]
    if not (results / PAGES[0]).exists():
        return []
    said = conclusions((results / "summary.md").read_text(encoding="utf-8"))
    return [*said, f"{', '.join(pages)} contain the results"]
