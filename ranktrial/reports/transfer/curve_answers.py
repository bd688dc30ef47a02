"""Curves over the number of training queries: where they pass the baseline, where few queries hurt, and their figure.

Reads nothing; the numbers are those of curves/{curve}.json. RQ1 and RQ5 of Mokrii, Boytsov and Braslavski (2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from ranktrial.records.curves import ALL, CurvesRecord, Pair, Point
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.transfer.wording import Answer, below, mean, missing, numbers_of, signed, tested
from ranktrial.reports.writing.content import counted, listed

SCRATCH = "scratch"


@dataclass(frozen=True)
class Curves:
    """The names of curves: labels of targets, of starting points and of the baseline."""

    target_labels: Annotated[list[list[str]], "task and its label, in order"]
    start_labels: Annotated[list[list[str]], "starting point and its label, in order"]
    baseline: Annotated[str, "label"]
    title: str = ""
    interval: Annotated[str, "of a point over its samples: range, or t"] = "range"

    @property
    def targets(self) -> dict[str, str]:
        """The labels of targets. (The keys of a mapping are sorted in the settings of a job.)"""
        return dict(map(tuple, self.target_labels))  # type: ignore[arg-type]

    @property
    def starts(self) -> dict[str, str]:
        """The labels of starting points."""
        return dict(map(tuple, self.start_labels))  # type: ignore[arg-type]


def above_for_good(points: Sequence[tuple[int, float]], level: float) -> int | None:
    """The smallest size from which all values are above the level; None if the last one is not."""
    found = None
    for size, value in sorted(points, reverse=True):
        if value <= level:
            break
        found = size
    return found


def answers(record: CurvesRecord, names: Curves) -> list[Answer]:
    """All answers from the curves, by question."""
    trained: dict[tuple[str, str], list[Point]] = {}
    starts: dict[tuple[str, str], Point] = {}
    for point in record.points:
        if point.queries == 0:
            starts[point.target, point.start] = point
        else:
            trained.setdefault((point.target, point.start), []).append(point)
    found = [_passing(points, record, names) for points in trained.values()]
    # What a question asks first: training from scratch.
    found = _scratch(found, record, names) + sorted(found, key=lambda answer: answer.start != SCRATCH)
    few = [_few(points, starts[key], record, names) for key, points in trained.items() if key in starts]
    return found + _hurting(trained, starts, record.alpha) + _irrelevant(record) + few + _full(record, names)


def _passing(points: list[Point], record: CurvesRecord, names: Curves) -> Answer:
    """The number of queries from which a curve stays above the baseline, by its means and by each sample."""
    target, start, alpha = points[0].target, points[0].start, record.alpha
    level = record.baseline[target].mean
    where = f"{names.targets[target]}, {_from(start, names)}"
    found = above_for_good([(point.size, point.mean) for point in points], level)
    seeds = {seed for point in points for seed in point.samples}
    of_samples = [
        above_for_good([(p.size, p.samples[seed]) for p in points if seed in p.samples], level)
        for seed in sorted(seeds)
    ]
    reached = [size for size in of_samples if size is not None]
    numbers: dict[str, float | None] = {
        "queries": found,
        "queries_low": min(reached, default=None),
        "queries_high": max(reached) if len(reached) == len(of_samples) else None,
        "samples": len(of_samples),
        "samples_above": len(reached),
    }
    baseline = f"{names.baseline} ({mean(level)})"
    if found is None:
        last = points[-1]
        text = f"{where}: does not stay above {baseline} with any number of queries up to {last.size:,} "
        text += f"(mean there {mean(last.mean)}: {tested(last.against_baseline, alpha)})"
    else:
        place = next(place for place, point in enumerate(points) if point.size == found)
        before = f"not with {points[place - 1].size:,}" if place else "the fewest that were tried"
        text = f"{where}: stays above {baseline} from {counted(found, 'query', 'queries')} on, {before} "
        text += f"({tested(points[place].against_baseline, alpha)}, unadjusted)"
        numbers |= numbers_of(points[place].against_baseline)
    return Answer("RQ1", f"{text}{_over_samples(of_samples)}.", target, start, numbers)


def _scratch(passing: list[Answer], record: CurvesRecord, names: Curves) -> list[Answer]:
    """The number of targets where training from scratch stays above the baseline, and from how many queries."""
    own = [answer for answer in passing if answer.start == SCRATCH]
    sizes = sorted(size for answer in own if (size := answer.numbers["queries"]) is not None)
    if not own:
        return []
    text = f"From scratch, the mean stays above that of {names.baseline} on {len(sizes)} of "
    text += counted(len(own), "target")
    text += f", from {counted(int(sizes[0]), 'query', 'queries')} on" if len(set(sizes)) == 1 else ""
    text += f", from {int(sizes[0]):,} to {int(sizes[-1]):,} queries on" if len(set(sizes)) > 1 else ""
    significant = sum(
        answer.numbers["queries"] is not None and below(answer.numbers.get("p_value"), record.alpha) for answer in own
    )
    if sizes:
        text += f"; with that number the difference is significant at the {record.alpha:g} level, unadjusted, on "
        text += f"{significant}"
    numbers: dict[str, float | None] = {
        "queries_low": min(sizes, default=None),
        "queries_high": max(sizes, default=None),
    }
    numbers |= {"pairs": len(own), "above": len(sizes), "above_significant": significant}
    return [Answer("RQ1", f"{text}.", numbers=numbers)]


def _over_samples(sizes: list[int | None]) -> str:
    if len(sizes) < 2:
        return ""
    reached = sorted(size for size in sizes if size is not None)
    if not reached:
        return f"; none of the {len(sizes)} samples does"
    span = f"{reached[0]:,}" if reached[0] == reached[-1] else f"{reached[0]:,} to {reached[-1]:,}"
    never = len(sizes) - len(reached)
    return f"; single samples from {span}" + (f", {never} of {len(sizes)} never" if never else "")


def _hurting(trained: dict, starts: dict, alpha: float) -> list[Answer]:
    """In how many curves the fewest queries, and any number of them, give less than the starting point."""
    with_start = [points for key, points in trained.items() if key in starts]
    compared = [points for points in with_start if points[0].queries != ALL]
    if not compared:
        return []

    def lower(points: list[Point]) -> list[Point]:
        return [point for point in points if point.against_start.difference.difference < 0]

    fewest = [points[0] for points in compared]
    significant = sum(below(point.against_start.difference.p_value, alpha) for point in lower(fewest))
    somewhere = sum(bool(lower(points)) for points in compared)
    text = (
        "With the fewest queries, the mean is lower than that of the starting point in "
        f"{len(lower(fewest))} of {counted(len(compared), 'curve')} (significantly at the {alpha:g} level, unadjusted, "
        f"in {significant}); with some number of queries in {somewhere}."
    )
    numbers: dict[str, float | None] = {"pairs": len(compared), "below": len(lower(fewest))}
    return [Answer("RQ5", text, numbers=numbers | {"below_significant": significant})]


def _irrelevant(record: CurvesRecord) -> list[Answer]:
    """On how many targets starting points differ significantly where all queries train."""
    if not record.full:
        return []
    targets = dict.fromkeys(pair.target for pair in record.full)
    apart = {pair.target for pair in record.full if below(pair.p_holm, record.alpha)}
    largest = max(abs(pair.difference.difference) for pair in record.full)
    text = (
        f"With all queries, some starting points differ significantly on {len(apart)} of "
        f"{counted(len(targets), 'target')} (at the {record.alpha:g} level after Holm correction for the pairs of a "
        f"target); the largest difference of means is {mean(largest)}."
    )
    numbers: dict[str, float | None] = {"pairs": len(record.full), "above": len(apart), "difference": largest}
    return [Answer("RQ5", text, numbers=numbers)]


def _few(points: list[Point], start: Point, record: CurvesRecord, names: Curves) -> Answer:
    """The numbers of queries with which training makes a starting point worse or better, and by how much."""
    where = f"{names.targets[start.target]}, {_from(start.start, names)} ({mean(start.mean)})"
    parts = []
    for word, sign in (("worse", -1), ("better", 1)):
        own = [point for point in points if point.against_start.difference.difference * sign > 0]
        if own:
            changes = [_change(point, record.alpha, with_samples=sign < 0) for point in own]
            parts.append(f"{word} with {listed(changes)} queries")
    worst = min(points, key=lambda point: point.against_start.difference.difference)
    numbers = {"queries": worst.size, **numbers_of(worst.against_start.difference)}
    text = (
        f"{where}: {'; '.join(parts)} (p unadjusted)." if parts else f"{where}: the same with all numbers of queries."
    )
    return Answer("RQ5", text, start.target, start.start, numbers)


def _change(point: Point, alpha: float, with_samples: bool) -> str:
    found, samples = point.against_start.difference, list(point.against_start.samples.values())
    span = f", samples {signed(min(samples))} to {signed(max(samples))}" if with_samples and len(samples) > 1 else ""
    p = "" if missing(found.p_value) else f", {form.p_equals(found.p_value, alpha)}"
    return f"{point.size:,} ({signed(found.difference)}{span}{p})"


def _full(record: CurvesRecord, names: Curves) -> list[Answer]:
    """Where all queries train: the largest difference between starting points, on each target."""
    by_target = {target: [pair for pair in record.full if pair.target == target] for target in names.targets}
    return [_widest(pairs, record.alpha, names) for pairs in by_target.values() if pairs]


def _widest(pairs: list[Pair], alpha: float, names: Curves) -> Answer:
    """The largest difference between starting points of one target."""
    widest = _turned(max(pairs, key=lambda pair: abs(pair.difference.difference)))
    significant = sum(below(pair.p_holm, alpha) for pair in pairs)
    text = (
        f"{names.targets[widest.target]}, with all queries: the largest difference between starting points is that of "
        f"{names.starts[widest.start]} over {names.starts[widest.other]}, {tested(widest.difference, alpha)} (the "
        f"largest of {counted(len(pairs), 'pair')}, not adjusted for that); {significant} of them differ significantly "
        f"at the {alpha:g} level after Holm correction"
    )
    text += "." if significant else ", which does not show that the starting point is irrelevant."
    numbers = {**numbers_of(widest.difference), "p_holm": widest.p_holm, "pairs": len(pairs)}
    return Answer("RQ5", text, widest.target, f"{widest.start} over {widest.other}", numbers)


def _turned(pair: Pair) -> Pair:
    """A pair with the better starting point first."""
    found = pair.difference
    if found.difference >= 0:
        return pair
    low, high = (None if missing(end) else -end for end in (found.ci_high, found.ci_low))
    turned = replace(found, difference=-found.difference, ci_low=low, ci_high=high)
    return replace(pair, start=pair.other, other=pair.start, difference=turned)


def _from(start: str, names: Curves) -> str:
    return "from scratch" if start == SCRATCH else f"from {names.starts[start]}"


Ends = tuple[float | None, float | None]


def ends(point: Point, interval: str) -> Ends:
    """The ends of a point's bar: the range over its samples, or their t interval; none for one sample."""
    samples = list(point.samples.values())
    if len(samples) < 2:
        return None, None
    if interval == "t":
        low, high = point.t_interval
        return low, high
    return min(samples), max(samples)


def all_queries(record: CurvesRecord, target: str) -> int | None:
    """How many training queries `all` are on a target; the most where its curves differ."""
    sizes = [point.size for point in record.points if (point.target, point.queries) == (target, ALL)]
    return max(sizes, default=None)


def notes(record: CurvesRecord, names: Curves) -> tuple[str, ...]:
    """How to read the figure."""
    several = any(len(point.samples) > 1 for point in record.points)
    bars = "the range of" if names.interval == "range" else f"the {form.percent(record.alpha)} t interval over"
    said = "Means over samples of training queries" if several else "One sample of training queries each"
    said += f"; bars are {bars} the samples" if several else ""
    if any(point.queries == 0 for point in record.points):
        said += ". At 0: the starting point itself, without a query of the target"
    return (f"{said}. The axis of queries is logarithmic. Dashed: {names.baseline}.",)
