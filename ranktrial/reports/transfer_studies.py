"""Studies of transfer as pages show them: matrices of sources and targets, curves, their notes and answers.

Reads tables/{matrix}.tsv and curves/{curve}.json; writes tables/{study}-answers.md and .tsv. The answers are to the
research questions of Mokrii, Boytsov and Braslavski (2021): from curves over the number of training queries, where they
pass the baseline and where few queries hurt (RQ1, RQ5); from a matrix, how pseudo-labels and transfer compare to the
baseline and each other (RQ2, RQ3, RQ4).

The rows of a matrix are sources, then the baseline, then pseudo-labelling. A cell that does not exist is a dash; the
baseline is not trained, so its full-shot cells are empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.files import write_text
from ranktrial.common.settings import read_record
from ranktrial.common.tables import read_table, write_table
from ranktrial.records.curves import ALL, CurvesRecord, Pair, Point
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import (
    Block,
    Column,
    Figure,
    Folded,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    bulleted,
    counted,
    listed,
)
from ranktrial.statistics.significance import Difference

DECIMALS = 3


@dataclass(frozen=True)
class Answer:
    """A sentence on a research question, of one target and starting point or of all ("")."""

    question: str
    text: str
    target: str = ""
    start: str = ""
    numbers: dict[str, float | None] = field(default_factory=dict)


def mean(value: float) -> str:
    """A mean of a measure."""
    return form.fixed(value, DECIMALS)


def signed(value: float) -> str:
    """A difference with its sign; 0 has none."""
    text = form.fixed(value, DECIMALS)
    return f"+{text}" if value > 0 else text


def percentage(difference: float, base: float) -> str:
    """A difference relative to its base, such as +3.7%; empty if the base is 0."""
    if not base:
        return ""
    share = 100 * difference / base
    return f"{'+' if share > 0 else ''}{form.fixed(share, 1)}%"


def tested(found: Difference, alpha: float) -> str:
    """A difference with its interval and p-value; a word if there is no test."""
    low, high, p = found.ci_low, found.ci_high, found.p_value
    if missing(low) or missing(high) or missing(p):
        return f"{signed(found.difference)}, the same on every query"
    interval = f"{form.percent(alpha)} CI {signed(low)} to {signed(high)}"
    return f"{signed(found.difference)}, {interval}, {form.p_equals(p, alpha)}"


def numbers_of(found: Difference) -> dict[str, float | None]:
    """The numbers of a difference as an answer's table has them."""
    return {key: getattr(found, key) for key in ("difference", "ci_low", "ci_high", "p_value")}


def missing(value: float | None) -> bool:
    """Whether there is no number."""
    return value is None or math.isnan(value)


def below(p: float | None, alpha: float) -> bool:
    """Whether there is a p-value and it is below alpha."""
    return p is not None and not math.isnan(p) and p < alpha


QUESTIONS = {
    "RQ1": "From how many training queries on does a curve stay above the baseline?",
    "RQ2": "Does a model trained on pseudo-labels outperform the baseline, and by how much?",
    "RQ3": "Is transfer always more effective than the baseline?",
    "RQ4": "Is transfer more effective than training on pseudo-labels?",
    "RQ5": "Where do a few training queries improve upon the starting point, and where do they hurt?",
}
NUMBERS = ("queries", "queries_low", "queries_high", "samples", "samples_above", "pairs", "above", "below",
           "above_significant", "below_significant", "difference", "ci_low", "ci_high", "p_value",
           "p_holm")  # fmt: skip
COLUMNS = ("question", "target", "start", *NUMBERS, "answer")


def as_table(answers: list[Answer]) -> pd.DataFrame:
    """One row per answer: its numbers, then the sentence."""
    rows = [
        {"question": one.question, "target": one.target, "start": one.start, **one.numbers, "answer": one.text}
        for one in answers
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def sections(answers: list[Answer]) -> list[Section]:
    """A section per question: the answers over all targets, then those of each."""
    parts = []
    for question, asked in QUESTIONS.items():
        own = [one for one in answers if one.question == question]
        over_all, single = ([one.text for one in own if bool(one.target) == of_one] for of_one in (False, True))
        if own:
            parts.append(Section(f"{question}: {asked}", [*bulleted(over_all), *bulleted(single)]))
    return parts


def write_answers(found: list[Answer], page: Path, table: Path) -> None:
    """Write the answers of a study as a page and as a table at full precision."""
    write_text(page, printed.markdown_document("Answers", sections(found)))
    write_table(table, as_table(found))


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


def answers_of_curves(record: CurvesRecord, names: Curves) -> list[Answer]:
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


def curve_notes(record: CurvesRecord, names: Curves) -> tuple[str, ...]:
    """How to read the figure."""
    several = any(len(point.samples) > 1 for point in record.points)
    bars = "the range of" if names.interval == "range" else f"the {form.percent(record.alpha)} t interval over"
    said = "Means over samples of training queries" if several else "One sample of training queries each"
    said += f"; bars are {bars} the samples" if several else ""
    if any(point.queries == 0 for point in record.points):
        said += ". At 0: the starting point itself, without a query of the target"
    return (f"{said}. The axis of queries is logarithmic. Dashed: {names.baseline}.",)


DASH = "\N{EN DASH}"
SHOTS = {"zero": "ZS", "full": "FS"}


@dataclass(frozen=True)
class Matrix:
    """A matrix's names: labels of its rows and of its targets, in their order."""

    measure: str
    alpha: float
    row_labels: Annotated[list[list[str]], "row of the table and its label, in order"]
    target_labels: Annotated[list[list[str]], "task and its label, in order"]
    title: str = ""

    @property
    def rows(self) -> dict[str, str]:
        """The labels of rows. (The keys of a mapping are sorted in the settings of a job.)"""
        return dict(map(tuple, self.row_labels))  # type: ignore[arg-type]

    @property
    def targets(self) -> dict[str, str]:
        """The labels of targets."""
        return dict(map(tuple, self.target_labels))  # type: ignore[arg-type]


def matrix(table: pd.DataFrame, names: Matrix) -> Table:
    """The matrix as labelled: two columns per target, the sources apart from baseline and pseudo-labelling."""
    sources: list[Row] = []
    others: list[Row] = []
    for row, label in names.rows.items():
        own = table[table["source"] == row]
        kind = own["kind"].iloc[0]
        entries = {
            (one["target"], one["shot"]): (mean(one["mean"]), Span(one["mark"], "raised"))
            for one in own.fillna({"mark": ""}).to_dict("records")
        }
        cells = [
            entries.get((target, shot), "" if (kind, shot) == ("baseline", "full") else DASH)
            for target in names.targets
            for shot in SHOTS
        ]
        (sources if kind == "source" else others).append([label, *cells])
    shots = [Column(shot, group=label) for label in names.targets.values() for shot in SHOTS.values()]
    return Table([Column("Source ↓ target →"), *shots], [sources, others])


def matrix_notes(table: pd.DataFrame, names: Matrix) -> list[str]:
    """How to read the matrix: what its columns and marks are, and how many marks stay after Holm's correction."""
    baseline = next((names.rows[row] for row in table.loc[table["kind"] == "baseline", "source"]), "the baseline")
    said = [
        f"Mean {names.measure}. ZS, zero-shot: trained on the source, without judgements of the target. FS, full-shot: "
        "the same model trained further on all training queries of the target; where source and target are one, "
        "trained on it from scratch. A dash: not run, or no transfer."
    ]
    if (table["kind"] == "pseudo-labels").any():
        said.append(f"Pseudo-labelling: ZS is trained on the target's queries with labels by {baseline}.")
    seeds = int(table["seeds"].max())
    if seeds > 1:
        said.append(f"Means over up to {seeds} seeds; in tests a query's value is its mean over the seeds.")
    marks = table["mark"].fillna("")
    for sign, what, column in (
        ("#", f"pseudo-labelling differs from {baseline}", "pseudo-labels"),
        ("*", "a transferred model differs from pseudo-labelling", "source"),
    ):
        against = "baseline" if sign == "#" else "pseudo-labels"
        tests = table.loc[(table["kind"] == column) & (table["shot"] == "zero"), f"{against}_p_value"].notna().sum()
        single, double = (int(marks.str.count(f"[{sign}]").ge(times).sum()) for times in (1, 2))
        if tests:
            said.append(
                f"{sign}: {what} (paired t-test over the target's queries, two-sided, p < {names.alpha:g}); "
                f"{2 * sign}: also after Holm's correction over all {counted(int(tests), 'test')} of this kind. "
                f"{single} marked, of which {double} after the correction. The absence of a mark does not show that "
                f"they are equal."
            )
    return said


BASELINE, PSEUDO, SOURCE = "baseline", "pseudo-labels", "source"


@dataclass(frozen=True)
class _Counts:
    """How many differences are above, below and equal to 0, and how many of them significantly, also after Holm."""

    pairs: int
    above: int
    below: int
    above_significant: int
    below_significant: int
    above_holm: int
    below_holm: int

    def said(self, alpha: float, things: str) -> str:
        """The counts as a sentence's end."""
        equal = self.pairs - self.above - self.below
        above = f"{self.above} of {things}{_significant(self.above, self.above_significant, self.above_holm)}"
        below = f"{self.below}{_significant(self.below, self.below_significant, self.below_holm)}"
        same = f" and equal in {equal}" if equal else ""
        return f"the mean is higher in {above}, lower in {below}{same}; paired t-tests at the {alpha:g} level"

    def numbers(self) -> dict[str, float | None]:
        return {"pairs": self.pairs, "above": self.above, "below": self.below,
                "above_significant": self.above_significant, "below_significant": self.below_significant}  # fmt: skip


def _significant(count: int, alone: int, after_holm: int) -> str:
    return f" (significantly in {alone}, after Holm correction in {after_holm})" if count else ""


def answers_of_matrix(table: pd.DataFrame, names: Matrix) -> list[Answer]:
    """All answers from the matrix: for each question the counts, then each target."""
    rows = [row for row in table.to_dict("records") if row["shot"] == "zero"]
    baseline = next((names.rows[row["source"]] for row in rows if row["kind"] == BASELINE), "the baseline")
    pseudo = [row for row in rows if row["kind"] == PSEUDO]
    sources = [row for row in rows if row["kind"] == SOURCE]
    found = _pseudo_labels(pseudo, baseline, names)
    found += _transfer("RQ3", sources, BASELINE, baseline, names)
    return found + _transfer("RQ4", sources, PSEUDO, "pseudo-labels", names)


def _pseudo_labels(rows: list[dict], baseline: str, names: Matrix) -> list[Answer]:
    compared = [row for row in rows if pd.notna(row[f"{BASELINE}_difference"])]
    if not compared:
        return []
    counts = _counts(compared, BASELINE, names.alpha)
    things = counted(len(compared), "target")
    text = f"Pseudo-labels against {baseline}: {counts.said(names.alpha, things)}."
    found = [Answer("RQ2", text, numbers=counts.numbers())]
    for row in compared:
        numbers = _numbers(row, BASELINE)
        base = row["mean"] - numbers["difference"]
        relative = percentage(numbers["difference"], base)
        text = f"{names.targets[row['target']]}: {mean(row['mean'])} against {mean(base)}, "
        text += f"{tested(_difference(numbers), names.alpha)}{f' ({relative})' if relative else ''}."
        found.append(Answer("RQ2", text, row["target"], numbers=numbers))
    return found


def _transfer(question: str, rows: list[dict], against: str, called: str, names: Matrix) -> list[Answer]:
    compared = [row for row in rows if pd.notna(row[f"{against}_difference"])]
    if not compared:
        return []
    counts = _counts(compared, against, names.alpha)
    things = counted(len(compared), "pair", "pairs") + " of source and target"
    text = f"Transferred models against {called}: {counts.said(names.alpha, things)}."
    if counts.below:
        text += " So not always."
    elif counts.above == counts.pairs and counts.above_significant < counts.pairs:
        open_ones = counts.pairs - counts.above_significant
        text += f" The mean is higher in every pair, not significantly in {open_ones}."
    found = [Answer(question, text, numbers=counts.numbers())]
    for target, label in names.targets.items():
        own = [row for row in compared if row["target"] == target]
        if own:
            parts = [f"{names.rows[row['source']]} {_short(row, against, names.alpha)}" for row in own]
            found.append(Answer(question, f"{label}: {listed(parts)} (p unadjusted).", target))
    return found


def _short(row: dict, against: str, alpha: float) -> str:
    p = row[f"{against}_p_value"]
    how = "" if pd.isna(p) else f" (p {'<' if below(p, alpha) else '≥'} {alpha:g})"
    return f"{signed(row[f'{against}_difference'])}{how}"


def _numbers(row: dict, against: str) -> dict[str, float | None]:
    keys = ("difference", "ci_low", "ci_high", "p_value", "p_holm")
    return {key: None if pd.isna(row[f"{against}_{key}"]) else row[f"{against}_{key}"] for key in keys}


def _difference(numbers: dict[str, float | None]) -> Difference:
    return Difference(numbers["difference"], numbers["ci_low"], numbers["ci_high"], None, None, numbers["p_value"])


def _counts(rows: list[dict], against: str, alpha: float) -> _Counts:
    def number(sign: int, p: str | None = None) -> int:
        return sum(
            row[f"{against}_difference"] * sign > 0 and (p is None or below(row[f"{against}_{p}"], alpha))
            for row in rows
        )

    significant = [number(sign, p) for p in ("p_value", "p_holm") for sign in (1, -1)]
    return _Counts(len(rows), number(1), number(-1), *significant)


@dataclass(frozen=True)
class ShownCurves:
    """Curves and the figures that show them."""

    names: Curves
    figures: list[str]


@dataclass(frozen=True)
class Studies:
    """The matrices and curves of an experiment, by name."""

    matrices: Annotated[dict[str, Matrix], "names in each matrix"]
    curves: Annotated[dict[str, ShownCurves], "names in the curves, and their figures"]


@dataclass(frozen=True)
class Found:
    """A matrix with its notes, or curves with their figures, and the answers."""

    name: str
    title: str
    answers: list[Answer]
    matrix: Table | None = None
    notes: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)


def read_matrix(path: Path) -> pd.DataFrame:
    """A matrix's table."""
    return read_table(path, "source", "kind", "target", "shot", "system", "mark")


def read_studies(studies: Studies, matrices: list[Path], curves: list[Path]) -> list[Found]:
    """All of them in the configuration's order."""
    found = []
    for path in matrices:
        names, table = studies.matrices[path.stem], read_matrix(path)
        answers = answers_of_matrix(table, names)
        title = names.title or "Sources and targets"
        found.append(Found(path.stem, title, answers, matrix(table, names), matrix_notes(table, names)))
    for path in curves:
        shown = studies.curves[path.stem]
        answers = answers_of_curves(read_record(CurvesRecord, path), shown.names)
        title = shown.names.title or "Curves over the number of training queries"
        found.append(Found(path.stem, title, answers, figures=shown.figures))
    return found


HOLDS = (
    "Intervals and p-values are over the queries of a target and hold for these checkpoints. The range over the "
    "samples shows how much other training queries and seeds change."
)


def studies(found: list[Found]) -> Section:
    """All studies in the configuration's order."""
    parts = [Section(one.title, _study(one), one.name, f"study-{one.name}") for one in found]
    return Section("Transfer and training queries", [Paragraph(HOLDS), *parts], anchor="transfer")


def _study(study: Found) -> list[Block]:
    """The matrix, the figure of all targets, the answers, and the figures of single targets."""
    figures = [
        Figure(f"figures/{name}.svg", name, f"Curves {name}. Their table has the numbers.") for name in study.figures
    ]
    matrix = [study.matrix, Folded("Table", [], f"tables/{study.name}.md")] if study.matrix else []
    single = [Folded("Each target", figures[:-1])] if figures[:-1] else []
    return [*matrix, *bulleted(study.notes), *figures[-1:], *sections(study.answers), *single]
