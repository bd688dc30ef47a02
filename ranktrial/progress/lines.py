"""The progress of a run as lines: one for the run, one per stage; pure functions."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

from ranktrial.progress.reasons import in_words
from ranktrial.progress.stages import STAGES
from ranktrial.progress.state import Run

STEP = 0.1  # share of a stage's jobs below which a log gets no line


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
