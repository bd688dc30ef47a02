"""Tasks with their datasets and graded judgements, systems, the tables of means, and how models and judges agree.

Reads tables/judges/{dataset}.tsv, which has a page of the same name; writes nothing. A mean has its spread between
seeds and its marks, and the best are bold. Where judgements are graded, a table says what each grade counts for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import ir_measures
import pandas as pd

from ranktrial.common.tables import read_table
from ranktrial.experiment.marks import MARKS, Mark
from ranktrial.ir.choosing import few_queries
from ranktrial.ir.means import COLUMNS, MeansRow
from ranktrial.ir.means import Column as MeansColumn
from ranktrial.ir.measure_names import canonical, parse
from ranktrial.ir.nouns import nouns_of
from ranktrial.ir.runs import zero_runs
from ranktrial.records.facts import Facts, Labels
from ranktrial.reports.comparison.families import FoundFamily, of_all_pairs, size_alone
from ranktrial.reports.comparison.number_text import fixed
from ranktrial.reports.writing.content import (
    Block,
    Cell,
    Column,
    Folded,
    Items,
    Note,
    Paragraph,
    Section,
    Span,
    Table,
    Text,
    listed,
)


@dataclass(frozen=True)
class Value:
    """The mean of a system on a task (or over all), its further columns by suffix, and what stands behind it."""

    mean: float
    further: Mapping[str, float] = field(default_factory=dict)
    signs: str = ""
    letters: str = ""

    @property
    def number(self) -> str:
        """The mean as it is printed."""
        return fixed(self.mean, 3)

    def text(self, bold: bool) -> Text:
        """The cell."""
        beside = {column.shown: self.further[column.suffix] for column in COLUMNS if column.suffix in self.further}
        numbers = "".join(shown.format(fixed(number, 3)) for shown, number in beside.items())
        shown = Span(f"{self.number}{numbers}{self.signs}", "strong" if bold else "")
        return (shown, Span(f" {self.letters}", "raised")) if self.letters else shown


def value_of(row: MeansRow, measure: str, facts: Facts) -> Value:
    """What a table shows of a system on a task."""
    mean = row.measures[measure]
    signs = "".join(mark.sign for mark in MARKS if facts.marked(mark.name, row.system, row.task))
    return Value(mean.value, mean.further, signs)


def columns_shown(rows: Sequence[MeansRow], measures: Sequence[str]) -> list[MeansColumn]:
    """The further columns of these measures that have a value."""
    of_rows = [row.measures[measure].further for row in rows for measure in measures if measure in row.measures]
    return [column for column in COLUMNS if any(column.suffix in further for further in of_rows)]


def marks_stated(facts: Facts) -> list[tuple[Mark, str]]:
    """The marks that are stated of a system, with the labels of these systems."""
    stated = [(mark, facts.marks[mark.name]) for mark in MARKS if facts.marks.get(mark.name)]
    named = [(mark, [name for name in facts.systems if name in systems]) for mark, systems in stated]
    return [(mark, ", ".join(map(facts.labels.system, names))) for mark, names in named]


def in_bold(
    values: Mapping[str, Value], measure: str, lower_is_better: bool, tested: FoundFamily | None, task: str
) -> set[str]:
    """The systems in bold, by label: the best, and those that do not differ significantly from it where all pairs of
    these systems were tested; none if there is one alone, or if no value of the measure is better.
    """
    if len(values) < 2 or measure.startswith("Judged@"):
        return set()
    if tested and (unbeaten := tested.unbeaten(task, values)):
        return unbeaten
    best = (min if lower_is_better else max)(values.values(), key=lambda value: value.mean).number
    return {system for system, value in values.items() if value.number == best}


DATASET_COLUMNS = {
    "dataset": "Dataset",
    "split": "Split",
    "documents": "Documents",
    "mean_document_words": "Words per document",
    "mean_document_word_pieces": "Word pieces per document",
    "queries": "Queries",
    "mean_query_words": "Words per query",
    "mean_query_word_pieces": "Word pieces per query",
    "judgements": "Judgements",
    "relevant": "Relevant",
    "relevant_per_query": "Relevant per query",
    "equal_documents": "Equal documents",
    "judged_documents_missing": "Judged but missing",
    "carved": "Carved from train",
    "unjudged": "Unjudged",
    "sampled_from": "Sampled from",
    "own_documents": "Queries that are documents",
    "excluded": "Excluded for a query",
    "near_duplicates": "Near a training query",
    "near_duplicates_left_out": "Left out as near",
}
_ODD = ("equal_documents", "judged_documents_missing", "unjudged")  # left out where they are 0 throughout
CHOSEN = "All recipes were trained and ranked the queries used for selection; only the selected recipe ranks the tasks."
SELECTED = "On datasets other than the one used for selection, only the selected seed was run."
ON_TEST = (
    "Selected on a test set, which is done only to reproduce work that did so: the values on this test set took "
    "part in the selection."
)

ALL_QUERIES = "tables/queries.tsv.gz"
MANY_NEAR = 0.1  # share of test queries near a training query from which it is noted


@dataclass(frozen=True)
class Source:
    """Where a dataset comes from."""

    dataset: str
    location: str
    licence: str


@dataclass(frozen=True)
class Sources:
    """Where the data come from, in the configuration's order."""

    sources: list[Source]


@dataclass(frozen=True)
class Described:
    """What the systems are, and on what they were tuned."""

    systems: Annotated[dict[str, str], "system: its description"]
    tuned: Annotated[dict[str, list[str]], "dataset: the systems tuned on its dev split"]


def tasks(names: Sequence[str], datasets: pd.DataFrame, sources: Iterable[Source]) -> Section:
    """The tasks by their labels, and the datasets with where they come from."""
    blocks: list[Block] = [Paragraph(f"Systems are scored on {listed(names)}.")]
    if len(datasets):
        blocks.append(datasets_table(datasets))
        shared = grouped(sources).items()
        blocks.append(Items([(Span(", ".join(of), "strong"), place) for place, of in shared]))
    return Section("Tasks", blocks, anchor="tasks")


def datasets_table(datasets: pd.DataFrame) -> Table:
    """Documents, queries and judgements per dataset and split."""
    datasets = datasets.assign(carved=datasets["carved"].map({"True": "yes"}))
    shown = [name for name in DATASET_COLUMNS if datasets[name].notna().any()]
    shown = [name for name in shown if name not in _ODD or datasets[name].fillna(0).any()]
    rows = [[_count(row[name], name) for name in shown] for row in datasets.to_dict("records")]
    words = ("dataset", "split", "carved")
    columns = [Column(DATASET_COLUMNS[name], "l" if name in words else "r") for name in shown]
    caption = f"Datasets and their splits.{_near(datasets)}{_pieces(datasets)}"
    return Table(columns, [rows], caption=caption, source="tables/datasets.tsv")


def _near(datasets: pd.DataFrame) -> str:
    """The definition of "near a training query", if such queries were searched for."""
    similarities = sorted(datasets["near_duplicate_similarity"].dropna().unique())
    if not similarities:
        return ""
    measured = f"at least {listed([f'{one:g}' for one in similarities])} of the pairs of adjacent words of both queries"
    return f" Near a training query: {measured} are in both (Jaccard)."


def _pieces(datasets: pd.DataFrame) -> str:
    """The tokenizer by which word pieces were counted, and the number of texts."""
    counted = datasets[datasets["tokenizer"].notna()]
    if counted.empty:
        return ""
    tokenizer, most = counted[["tokenizer", "word_pieces_sample"]].iloc[0]
    sample = f"in a sample of at most {most:,.0f} documents and as many queries of a split"
    return f" Word pieces are counted with the tokenizer of {tokenizer}, {sample}."


def _count(value: Any, name: str) -> str:
    if pd.isna(value):
        return ""
    decimals = 1 if name.startswith("mean_") else 2 if name == "relevant_per_query" else 0
    return value if isinstance(value, str) else f"{value:,.{decimals}f}"


def grouped(sources: Iterable[Source]) -> dict[str, list[str]]:
    """Each location and licence in words, with the datasets that share both."""
    found: dict[str, list[str]] = {}
    for one in sources:
        found.setdefault(f": {one.location} (licence: {one.licence})", []).append(one.dataset)
    return found


def systems(described: dict[str, str], labels: Labels, choices: dict[str, pd.DataFrame], mined: list[Text]) -> Section:
    """Each system's description, chosen recipes and selected seeds (tables in `choices`, if any), mined negatives."""
    texts: list[Text] = []
    for name, what in described.items():
        called = labels.system(name)
        texts.append((Span(called, "strong"), f": {what}" if called == name else f" ({name}): {what}"))
    blocks: list[Block] = [Items(texts)]
    if "chosen" in choices:
        said = [Paragraph(CHOSEN), Items(chosen(choices["chosen"], labels))]
        blocks.append(Section("Chosen recipes", said))
    if "selected" in choices:
        blocks.append(Section("Selected seeds", [Paragraph(SELECTED), Items(selected(choices["selected"], labels))]))
    if mined:
        blocks.append(Section("Negatives from systems", [Items(mined)]))
    return Section("Systems", blocks, anchor="systems")


def tuned_on_few(tuned: dict[str, list[str]], datasets: pd.DataFrame, labels: Labels) -> list[Note]:
    """A note for each dataset with few dev queries, on which systems were tuned all the same."""
    dev = datasets[datasets["split"] == "dev"].set_index("dataset")
    notes = []
    for dataset in filter(tuned.__contains__, dev.index):
        queries = dev["queries"][dataset] - dev["queries_without_relevant"][dataset]
        if caution := few_queries(int(queries)):
            notes.append(Note(f"{listed([labels.system(name) for name in tuned[dataset]])} on {dataset}: {caution}."))
    return notes


def learnt_near(trained: dict[str, list[str]], datasets: pd.DataFrame, labels: Labels) -> list[Note]:
    """A note for each dataset of whose test queries many are near a training query, if a system learnt from these."""
    notes = []
    for row in datasets[datasets["split"] == "test"].itertuples():
        systems = [labels.system(name) for name, tasks in trained.items() if row.dataset in tasks]
        if systems and row.near_duplicates > MANY_NEAR * row.queries:
            near = f"{row.near_duplicates:.0f} of {row.queries:.0f} test queries are near a training query"
            how = "drop_near_duplicates leaves such training queries out"
            notes.append(Note(f"{row.dataset}: {near}, and {listed(systems)} learnt from these; {how}."))
    return notes


def chosen(table: pd.DataFrame, labels: Labels) -> list[Text]:
    """The recipe that each system chose and the scores of all; a warning for test sets."""
    return _choices(table, labels, "recipe", "{recipe} of {count}, by {measure} on {task}")


def selected(table: pd.DataFrame, labels: Labels) -> list[Text]:
    """The seed of each system that is kept for other datasets and the scores of all; a warning for test sets."""
    return _choices(table, labels, "seed", "seed {seed}, by {formula} on {task}")


def _choices(table: pd.DataFrame, labels: Labels, of: str, said: str) -> list[Text]:
    texts: list[Text] = []
    for system, rows in table.groupby("system", sort=False):
        records = rows.to_dict("records")
        best = next(row for row in records if row["chosen"] == "yes")
        what = said.format(**{**best, "count": len(records), "task": labels.task(best["task"])})
        what += f", the mean of {best['seeds']} seeds" if best.get("seeds", 1) > 1 else ""
        scores = ", ".join(f"{row[of]}: {row['score']:.4f}" for row in records)
        warning = (" ", Span(ON_TEST, "strong")) if best["split"] == "test" else ()
        texts.append((Span(labels.system(str(system)), "strong"), f": {what} ({scores}).", *warning))
    return texts


@dataclass(frozen=True)
class Beside:
    """What stands beside the means."""

    cautions: Annotated[list[str], "of the configuration"]
    of_runs: Annotated[bool, "values are computed from runs"]
    with_queries: Annotated[bool, "a file beside the page has every value of every query"] = True


def means(
    rows: Sequence[MeansRow], facts: Facts, families: Mapping[str, FoundFamily], beside: Beside, grades: str = ""
) -> Section:
    """A table for each measure, how to read them, and cautions.

    `families` are the multiple comparisons; `grades` says what those of judgements count for.
    """
    labels, nouns = facts.labels, facts.nouns
    of_pairs = {measure: of_all_pairs(families, measure)[1] for measure in facts.measures}
    tested = [measure for measure, family in of_pairs.items() if family]
    said = "Bold marks the best mean of a row"
    said += f" and, of {listed(tested)}, those that do not differ significantly from it" if tested else ""
    said += ", significant or not" if tested != facts.measures else ""
    said += "".join(f"; {column.sign} is {column.meaning}" for column in columns_shown(rows, facts.measures))
    said += "".join(mark.said.format(systems=systems) for mark, systems in marks_stated(facts))
    zeros = [one.caution(labels.task(one.task), labels.system(one.system)) for one in zero_runs(rows)]
    counted = " A judged query that a run lacks counts as 0." if beside.of_runs else ""
    each: tuple[str | Span, ...] = (f" Every value of every {nouns.query}: ", Span(ALL_QUERIES, link=ALL_QUERIES), ".")
    blocks: list[Block] = [Paragraph((f"{said}.{counted}", *(each if beside.with_queries else ())))]
    blocks += [Paragraph(grades)] if grades else []
    blocks += [Note(f"{caution}.") for caution in (*zeros, *unequal_counts(rows, facts), *beside.cautions)]
    for place, (measure, family) in enumerate(of_pairs.items()):
        blocks.append(Folded(measure, [means_table(rows, measure, facts, family)], unfolded=not place))
    return Section("Means", blocks, anchor="means")


def by_task(rows: Iterable[MeansRow]) -> dict[str, list[MeansRow]]:
    """The rows of each task."""
    found: dict[str, list[MeansRow]] = {}
    for row in rows:
        found.setdefault(row.task, []).append(row)
    return found


def unequal_counts(rows: Sequence[MeansRow], facts: Facts) -> list[str]:
    """The tasks on which systems have values of different numbers of queries, as text."""
    said, labels = [], facts.labels
    for task, of_task in by_task(rows).items():
        if len({row.queries for row in of_task}) > 1:
            counts = [f"{labels.system(row.system)} {row.queries:,}" for row in of_task]
            comparing = "each mean is over the system's own, a comparison uses those that both systems have"
            nouns = nouns_of(", ".join(of_task[0].measures), facts.of_tasks)
            differ = f"numbers of {nouns.queries} differ: {', '.join(counts)}"
            said.append(f"{labels.task(task)}: {differ}; {comparing}")
    return said


def means_table(means: Sequence[MeansRow], measure: str, facts: Facts, tested: FoundFamily | None = None) -> Table:
    """Tasks by systems: mean of a measure, its further columns, and the marks that hold of system and task.

    `tested`: the multiple comparison of all pairs with this measure.
    """
    labels = facts.labels
    measured = [row for row in means if measure in row.measures]
    systems = list(dict.fromkeys(row.system for row in measured))
    rows = []
    for task, of_task in by_task(measured).items():
        found = {row.system: value_of(row, measure, facts) for row in of_task}
        values = {labels.system(name): value for name, value in found.items()}
        bold = in_bold(values, measure, measure in facts.lower_is_better, tested, labels.task(task))
        cells = {
            name: Cell(value.text(labels.system(name) in bold), value.mean, f"metrics/{task}/{name}/")
            for name, value in found.items()
        }
        counts = [row.queries for row in of_task]
        queries = " to ".join(f"{count:,.0f}" for count in dict.fromkeys((min(counts), max(counts))))
        rows.append([labels.task(task), queries, *(cells.get(name, "") for name in systems)])
    columns = [
        Column("Task"),
        Column(nouns_of(measure, facts.of_tasks).queries.capitalize(), "r"),
        *(Column(labels.system(name), "r") for name in systems),
    ]
    return Table(columns, [rows], caption=f"Mean {measure} of each system on each task.", source="tables/means.tsv")


AVERAGE = "Average"


def by_system(
    means: Sequence[MeansRow], measure: str, facts: Facts, letters: Mapping[str, str]
) -> dict[str, dict[str, Value]]:
    """By system and task the value; by system under AVERAGE their mean, where the system has every task."""
    measured = [row for row in means if measure in row.measures]
    tasks = {row.task for row in measured}
    found: dict[str, dict[str, Value]] = {}
    for row in measured:
        found.setdefault(row.system, {})[row.task] = value_of(row, measure, facts)
    for system, of_tasks in found.items():
        if len(tasks) > 1 and len(of_tasks) == len(tasks):
            average = sum(value.mean for value in of_tasks.values()) / len(tasks)
            of_tasks[AVERAGE] = Value(average, letters=letters.get(facts.labels.system(system), ""))
    return found


def means_to_print(
    means: Sequence[MeansRow], measure: str, facts: Facts, tried: Mapping[str, int], tested: FoundFamily | None
) -> Table:
    """Systems by tasks, the best of each column bold."""
    labels = facts.labels
    letters = {one.system: one.sign for one in tested.whole.standings} if tested else {}
    found = {labels.system(name): of for name, of in by_system(means, measure, facts, letters).items()}
    names = [*dict.fromkeys(task for of_tasks in found.values() for task in of_tasks if task != AVERAGE)]
    heads = {task: labels.task(task) for task in names}
    scopes = dict(heads)
    if any(AVERAGE in of_tasks for of_tasks in found.values()):
        heads[AVERAGE] = AVERAGE
        scopes[AVERAGE] = tested.whole.task if tested and tested.tasks == len(names) else ""
    columns = {name: {system: of[name] for system, of in found.items() if name in of} for name in heads}
    lower = measure in facts.lower_is_better
    bold = {name: in_bold(column, measure, lower, tested, scopes[name]) for name, column in columns.items()}
    counts = {labels.system(name): number for name, number in tried.items()}
    rows = []
    for system, of in found.items():
        cells = [of[name].text(system in bold[name]) if name in of else "" for name in heads]
        rows.append([system, *cells, *([f"{counts.get(system, 1)}"] if tried else [])])
    shown = [Column("System"), *(Column(head, "r") for head in heads.values())]
    shown += [Column("Tried", "r")] if tried else []
    return Table(shown, [rows], caption=f"Mean {measure} of each system on each task.")


def notes_to_print(
    means: Sequence[MeansRow],
    measure: str,
    facts: Facts,
    tried: Mapping[str, int],
    family: str,
    tested: FoundFamily | None,
) -> Items:
    """How to read one of the tables."""
    best = f"the {'lowest' if measure in facts.lower_is_better else 'highest'} mean of a column"
    systems = {facts.labels.system(row.system) for row in means if measure in row.measures}
    apart = tested and {one.system for one in tested.whole.standings} == systems
    also = " and those that do not differ significantly from it" if apart else ", significant or not"
    said = [f"Bold: {best}{also}."]
    said += [f"{column.sign}: {column.meaning}." for column in columns_shown(means, [measure])]
    said += [mark.note.format(systems=names) for mark, names in marks_stated(facts)]
    if tested:
        said.append(f"Systems that share a letter do not differ significantly over the tasks of the family {family}.")
        said += filter(None, [size_alone(tested)])
    if tried:
        said.append(
            "Tried: the number of configurations compared on dev before the final one was chosen; 1: nothing was tuned."
        )
    return Items(said)


def printed_means(
    means: Sequence[MeansRow], families: Mapping[str, FoundFamily], facts: Facts, tried: Mapping[str, int]
) -> list[Block]:
    """The means as a paper prints them: systems by tasks, a section for each measure, with the average over tasks.

    `tried`: by tuned system, the configurations compared on dev.
    """
    sections: list[Block] = []
    for measure in facts.measures:
        family, tested = of_all_pairs(families, measure)
        table = means_to_print(means, measure, facts, tried, tested)
        sections.append(Section(measure, [table, notes_to_print(means, measure, facts, tried, family, tested)]))
    return sections


GAINS = {"log2": "the grade", "exp-log2": "2^grade \N{MINUS SIGN} 1"}


def graded(datasets: pd.DataFrame, measures: Sequence[str]) -> str:
    """The grades of test sets with several grades above 0, and what these count for; empty if there are none."""
    named: dict[str, list[str]] = {}
    for row in datasets[datasets["split"] == "test"].itertuples():
        if isinstance(row.grades, str) and sum(int(grade) > 0 for grade in row.grades.split(", ")) > 1:
            named.setdefault(row.grades, []).append(row.dataset)
    if not named:
        return ""
    said = "; ".join(f"{listed(names)}: {grades}" for grades, names in named.items())
    return f"Grades of {said}.{_counted([(name, parse(name)) for name in measures if canonical(name)])}"


def _counted(measures: list[tuple[str, ir_measures.Measure]]) -> str:
    """Which gain measures take from a grade, and from which grade on documents are relevant to others."""
    gains: dict[str, list[str]] = {}
    for name, measure in measures:
        if measure.NAME == "nDCG" and "gains" not in measure.params:
            gains.setdefault(GAINS[measure["dcg"]], []).append(name)
        elif "rel" in measure.SUPPORTED_PARAMS:
            gains.setdefault(f"1 for grades from {measure['rel']} on, otherwise 0", []).append(name)
    if not gains:
        return ""
    return f" The gain of a document is {'; '.join(f'{gain} ({listed(names)})' for gain, names in gains.items())}."


TEXTS = ("kind", "first", "second", "measure")
WHAT = (
    "The model's judgements beside those of humans, where both judged. An effect in a comparison is that by humans' "
    "judgements, to which the model's add precision and no bias."
)


def judges(paths: Sequence[Path]) -> Section:
    """All language models that judge, in the order of the configuration."""
    lines: list[Text] = [_line(path.stem, read_table(path, *TEXTS)) for path in paths]
    return Section("Judged by language models", [Paragraph(WHAT), Items(lines)], anchor="judges")


def _line(name: str, table: pd.DataFrame) -> Text:
    """The agreement on documents, and the order of systems by each measure."""
    found = table.dropna(subset=["value"])
    kappas = found[found["kind"] == "kappa of relevance"]
    said = [f"Cohen's kappa of relevance {row.value:.3f} ({row.n:.0f} documents)" for row in kappas.itertuples()]
    taus = found[found["kind"] == "tau"]
    said += [f"Kendall's tau of {row.n:.0f} systems {row.value:.3f} ({row.measure})" for row in taus.itertuples()]
    page = f"tables/judges/{name}.md"
    text = f": {'; '.join(said) or 'no document was judged by both'}. All numbers: "
    return (Span(name, "strong"), text, Span(page, link=page))
