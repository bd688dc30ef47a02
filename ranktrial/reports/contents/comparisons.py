"""Each comparison with its question, answers, forest plot, table and moderators; each multiple comparison likewise.

Reads and writes nothing. A multiple comparison has its answer, diagram, means with letters, and differences. Links
lead into the explorer, which is the folder beside the report (scripts/explorer), as do the queries with the largest
gains and losses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

import pandas as pd

from ranktrial.ir.nouns import RETRIEVAL, Nouns, nouns_of
from ranktrial.records.comparison import ComparisonRow, rows_of
from ranktrial.records.facts import Facts, Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.families import (
    CONDITIONS,
    FoundFamily,
    differences,
    heading,
    sentence,
    size_alone,
    standings,
)
from ranktrial.reports.comparison.moderation import between_groups, coefficients, statement
from ranktrial.reports.comparison.notes import Verdict, caption, verdict
from ranktrial.reports.comparison.plot_text import lines_of, unmarked
from ranktrial.reports.comparison.reading import Forest, Found, Looks
from ranktrial.reports.comparison.sentence import Answer, answers, cases_tables, remarks
from ranktrial.reports.comparison.table import (
    HERE,
    LIKE_THESE,
    NEW,
    P_HERE,
    P_LIKE_THESE,
    TAU,
    TRIED,
    as_table,
    how_to_read,
    overview,
    tasks_table,
)
from ranktrial.reports.figures.forest import noted
from ranktrial.reports.writing.content import (
    EXPLORER,
    Block,
    Cell,
    Column,
    Figure,
    Folded,
    Items,
    Note,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    Text,
    bulleted,
    counted,
)


def to_explorer(nouns: Nouns, page: str = EXPLORER) -> Paragraph:
    """The way into the explorer."""
    rankings = " and, if there are runs, the rankings of the systems with their unjudged documents"
    said = f"Each {nouns.query} with its values{rankings if nouns is RETRIEVAL else ''}: "
    return Paragraph((said, Span("explorer", link=page), " (the folder beside this page)."))


def state(comparison: str, task: str, query: str = "", page: str = EXPLORER) -> str:
    """The link to a state of the explorer."""
    keys = {"c": comparison, "t": task} | ({"q": query} if query else {})
    return f"{page}#{urlencode(keys)}"


def linked(table: Table, links: Mapping[str, str]) -> Table:
    """The table with a link in the first cell of each row that has one."""
    blocks = [[_linked(row, links) for row in block] for block in table.blocks]
    return replace(table, blocks=blocks)


def _linked(row: Row, links: Mapping[str, str]) -> Row:
    first, *others = row
    link = links.get(unmarked(first)) if isinstance(first, str) else None
    return [Span(first, link=link), *others] if link else row


def extreme_queries(
    name: str, found: pd.DataFrame, sides: tuple[str, str], labels: Labels, nouns: Nouns, page: str = EXPLORER
) -> list[Block]:
    """The queries with the largest gains and losses of a comparison; nothing if there are none."""
    own = found[found["comparison"] == name]
    if own.empty:
        return []
    columns = [
        Column(nouns.query.capitalize()),
        Column("Task"),
        *(Column(side, "r") for side in sides),
        Column("Difference", "r"),
    ]
    rows = [_query(record, labels, page) for record in own.to_dict("records")]
    caption = f"{name}: the {nouns.queries} of all tasks with the largest wins and losses, at most ten each; "
    caption += "of equal ones, those of each task in turn."
    table = Table(columns, [rows], caption=caption, source="tables/extreme-queries.tsv")
    return [Folded(f"{nouns.queries.capitalize()} won and lost most", [table], "tables/extreme-queries.tsv")]


def _query(record: dict, labels: Labels, page: str) -> Row:
    link = state(record["comparison"], record["task"], record["query_id"], page)
    values = [form.minus(f"{record[side]:.3f}") for side in ("control", "treatment")]
    difference = Cell(form.minus(f"{record['difference']:+.3f}"), record["difference"])
    text = record["text"] if isinstance(record["text"], str) else record["query_id"]  # no text is a missing value
    return [Span(text, link=link), labels.task(record["task"]), *values, difference]


MEANS = {HERE: (P_HERE, "fixed_mean_effect"), LIKE_THESE: (P_LIKE_THESE, "effect")}  # column -> that of p, its estimate
ASKED = (
    "Each comparison asks whether one system beats another: on these collections, on average over collections like "
    "these, and in a new one."
)
FIRST = "first"  # the anchor of the section with which a page begins


@dataclass(frozen=True)
class Compared:
    """A comparison with its forest plot as a table prints it, and with its answers by scope."""

    name: str
    found: Found
    plot: Forest
    answers: list[Answer]

    @property
    def anchor(self) -> str:
        """Of its section."""
        return f"comparison-{self.name}"

    @property
    def question(self) -> str:
        """Its question."""
        return self.plot.effect.QUESTION.format(
            treatment=self.plot.groups[0].treatment, control=self.plot.control, measure=self.plot.measure
        )


@dataclass(frozen=True)
class Shown:
    """How comparisons and their figures look."""

    together: Annotated[dict[str, list[str]], "figure: the comparisons that it shows"]
    forest_plots: Annotated[dict[str, Looks], "how each forest plot looks"]
    moderated: Annotated[dict[str, list[str]], "comparison with moderators or subgroups: its bubble plots"]


@dataclass(frozen=True)
class Figures:
    """The figures of comparisons: `together` names those of several, `drawn` says how each forest plot looks.

    `moderated` names the bubble plots of comparisons with moderators.
    `extremes` is no figure: the queries that comparisons win and lose most. `explorer` is the page that shows them.
    """

    together: Mapping[str, Sequence[str]]
    drawn: Mapping[str, Looks]
    moderated: Mapping[str, Sequence[str]]
    extremes: pd.DataFrame | None = None
    explorer: str = EXPLORER

    def explored(self, name: str) -> bool:
        """Whether the explorer shows a comparison."""
        return self.extremes is not None and (self.extremes["comparison"] == name).any()


def compared(results: Mapping[str, Found], looks: Mapping[str, Looks], facts: Facts) -> dict[str, Compared]:
    """All comparisons by name."""
    plots = {name: as_table(found, looks[name], facts) for name, found in results.items()}
    return {
        name: Compared(name, found, plots[name], answers(found.meta, plots[name])) for name, found in results.items()
    }


def questions(comparisons: pd.DataFrame, all_compared: Mapping[str, Compared], facts: Facts) -> list[Section]:
    """The first table of a page: each comparison's question, and its answer in each scope; none of only one."""
    if len(all_compared) < 2:
        return []
    shown, nouns = overview(comparisons, facts.labels), facts.nouns
    optional = [name for name in (NEW, TAU, TRIED) if any(shown.get(name, []))]
    rows: list[Row] = []
    for place, row in enumerate(rows_of(ComparisonRow, comparisons)):
        one, texts = all_compared[row.comparison], {name: column[place] for name, column in shown.items()}
        asked = (Span(one.question, link=f"#{one.anchor}"), " ", Span(one.name, "quiet"))
        cells = _answers(one, row, texts)[: None if any(shown.get(LIKE_THESE, [])) else 2]
        rows.append([asked, *cells, *(_estimate(texts[name]) for name in optional)])
    scopes = [scope for scope in MEANS if scope == HERE or any(shown.get(scope, []))]
    heads = [head for scope in scopes for head in (Column(nouns.say(scope)), Column("p", "r"))]
    every = [Column("Question"), *heads, *(Column(nouns.say(name), "r") for name in optional)]
    table = Table(every, [rows], source="tables/comparisons.tsv")
    blocks = [Paragraph(nouns.say(ASKED)), table, Paragraph(how_to_read(shown, nouns))]
    return [Section("Questions and answers", blocks, anchor="questions")]


def _estimate(text: str) -> Text:
    """An estimate with its interval below it, which takes less room than beside it."""
    estimate, bracket, interval = text.partition(" [")
    return (estimate, Span(f"{bracket}{interval}", "quiet")) if bracket else text


def _answers(one: Compared, row: ComparisonRow, texts: dict[str, str]) -> list[Text | Cell]:
    """For each mean its answer with the estimate, and its p-value; empty if there is no such mean."""
    by_scope = {answer.scope: answer for answer in one.answers}
    cells: list[Text | Cell] = []
    here, like_these = one.answers[0], by_scope.get(LIKE_THESE)
    shown = (None, here) if row.of_tasks else (here, like_these)
    for answer, (scope, (p, effect)) in zip(shown, MEANS.items(), strict=True):
        if answer is None:
            cells += ["", ""]
        elif not texts[scope]:
            cells += [Span(answer.words, answer.kind), ""]
        else:
            said = (Span(answer.words, answer.kind), " ", Span(texts[scope], "quiet"))
            own, _, corrected = texts[p].partition(" ")
            tested = (own, Span(f" {corrected}", "quiet")) if corrected else own
            cells += [Cell(said, getattr(row, effect), f"meta/{one.name}.json"), tested]
    return cells


def lead(systems: int, tasks: int, compared: int, measures: Sequence[str]) -> Paragraph:
    """The first sentence of a page: the numbers of systems, tasks and comparisons, and the measures."""
    said = f"{counted(systems, 'system')} on {counted(tasks, 'task')}"
    said += f", {counted(compared, 'comparison')}" if compared else ""
    return Paragraph(f"{said}. Measures: {', '.join(measures)}.")


def grouped(names: Iterable[str], together: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Section -> its comparisons: those that are drawn together, or one, in the order of their first."""
    order = list(names)
    apart = {name: [name] for name in order if not any(name in members for members in together.values())}
    return dict(sorted({**apart, **together}.items(), key=lambda section: order.index(section[1][0])))


def first(all_compared: dict[str, Compared], figures: Figures) -> Section:
    """The beginning of a page: the first comparison in full, or the first figure of several with their answers on
    these collections.
    """
    title, members = next(iter(grouped(all_compared, figures.together).items()))
    if title in all_compared:
        return _alone(all_compared[title], figures, named=len(all_compared) > 1)
    several = [all_compared[member] for member in members]
    said: list[Text] = [_said(one.answers[0]) for one in several]
    return Section(_heading(several), [Items(said), _forest(title, several, figures)], anchor=FIRST)


def _said(answer: Answer) -> Text:
    return (Span(answer.words, answer.kind), f" {answer.sentence}")


def _heading(several: list[Compared]) -> str:
    one, others = several[0], several[1:]
    return f"{f'{len(several)} systems' if others else one.plot.groups[0].treatment} against {one.plot.control}"


def _alone(one: Compared, figures: Figures, named: bool = True) -> Section:
    """A comparison with its own figure; `named`: by what the configuration calls it, too."""
    blocks = [Paragraph(Span(one.question, "strong")), *_one(one, figures, _forest(one.name, [one], figures))]
    return Section(_heading([one]), blocks, one.name if named else "", one.anchor)


def comparisons(all_compared: dict[str, Compared], figures: Figures) -> list[Section]:
    """Each comparison in full; those that are drawn together share a section and its figure.

    What the page begins with is not repeated.
    """
    sections = []
    for place, (title, members) in enumerate(grouped(all_compared, figures.together).items()):
        if title not in all_compared:
            several = [all_compared[member] for member in members]
            above = Paragraph(("Forest plot: ", Span("at the beginning of this page", link=f"#{FIRST}"), "."))
            parts = [Section(one.question, _one(one, figures), one.name, one.anchor) for one in several]
            plot: Block = _forest(title, several, figures) if place else above
            sections.append(Section(_heading(several), [plot, *parts], title, f"figure-{title}"))
        elif place:
            sections.append(_alone(all_compared[title], figures))
    return [Section("Comparisons", sections, anchor="comparisons")] if sections else []


def _one(one: Compared, figures: Figures, alone: Figure | None = None) -> list[Block]:
    """A comparison's answers with their qualifications, its figures and its table.

    `alone`: its figure; None: its figure is one of several, so its own one is folded.
    """
    said = [_said(answer) for answer in one.answers]
    blocks: list[Block] = [Items([*said, *remarks(one.found.meta, one.plot)])]
    blocks += [Note(warning) for warning in one.found.meta.warnings]
    table = linked(tasks_table(one.plot), states(one, figures))
    link = f"tables/effects/{one.name}.md"
    tables = [replace(table, source=f"tables/effects/{one.name}.tsv"), *cases_tables(one.found.meta, one.plot)]
    if alone:
        blocks += [alone, Folded("Table", tables, link)]
    else:
        own = _forest(one.name, [one], figures)
        blocks.append(Folded("Forest plot and table", [own, *tables], link))
    if figures.extremes is not None:
        sides = one.plot.control, one.plot.groups[0].treatment
        blocks += extreme_queries(one.name, figures.extremes, sides, one.plot.labels, one.plot.nouns, figures.explorer)
    blocks += _moderation(one, figures.moderated.get(one.name, ()))
    return blocks


def _moderation(one: Compared, bubbles: Sequence[str]) -> list[Block]:
    """The moderators of a comparison, if any: sentences, bubble plots, coefficients."""
    if (record := one.found.moderation) is None:
        return []
    said: list[Text] = [statement(model, record.alpha) for model in record.models]
    said += [between_groups(record.subgroups, record.alpha)] if record.subgroups else []
    shows = "Bubble plot {}. The table has the numbers."
    plots = [Figure(f"figures/{name}.svg", name, shows.format(name)) for name in bubbles]
    table = [coefficients(record)] if record.models else []
    link = f"tables/moderators/{one.name}.md"
    return [Folded("Moderators of the effect (meta-regression)", [*bulleted(said), *plots, *table], link)]


def _forest(name: str, several: list[Compared], figures: Figures) -> Figure:
    treatments = ", ".join(one.plot.groups[0].treatment for one in several)
    shows = f"Forest plot {name}: {treatments} against {several[0].plot.control}. The table has the numbers."
    plot = Forest(tuple(one.found for one in several), replace(figures.drawn[name], title=""), several[0].plot.facts)
    said = [caption(plot), *(noted(plot) if plot.looks.notes == "caption" else [])]
    return Figure(f"figures/{name}.svg", " ".join(said), shows, _rows(plot, several, figures))


def states(one: Compared, figures: Figures) -> dict[str, str]:
    """The state of the explorer that shows each of a comparison's tasks, by the task's label; none of one it lacks."""
    if not figures.explored(one.name):
        return {}
    return {one.plot.task(row): state(one.name, row.task, page=figures.explorer) for row in one.found.effects}


def _rows(plot: Forest, several: list[Compared], figures: Figures) -> list[tuple[str, str]]:
    """The rows of a forest plot as drawn, each with its link: a task to its queries, a treatment to its section."""
    if plot.of_treatments:
        return [(one.plot.groups[0].treatment, f"#{one.anchor}") for one in several]
    links = [states(one, figures) for one in several]
    tasks = [line for line in lines_of(plot, form.numbers(plot)) if line.kind in ("task", "undefined")]
    leads = [(line.label, links[line.group].get(unmarked(line.label))) for line in tasks]
    return [(label, link) for label, link in leads if link]


AT_ONCE = (
    "Each of these tests all its differences together: p-values are adjusted for the whole family, and intervals are "
    "simultaneous. Over tasks they hold for these tasks. Other collections are the subject of the comparisons of two "
    f"systems. {CONDITIONS}"
)


def families(found: Mapping[str, FoundFamily], compared: Sequence[Compared] = ()) -> Section:
    """All multiple comparisons in the configuration's order, with those comparisons that have another verdict."""
    parts = [_family(name, one, compared, len(found) > 1) for name, one in found.items()]
    records = [one.record for one in found.values()]
    nouns = nouns_of(", ".join(one.measure for one in records), all(one.of_tasks for one in records))
    return Section("Many systems at once", [Paragraph(nouns.say(AT_ONCE)), *parts], anchor="families")


def other_verdicts(found: FoundFamily, compared: Sequence[Compared]) -> list[Text]:
    """The comparisons of two systems on these collections that have another verdict than the family has."""
    said: list[Text] = []
    for one in compared:
        names, mean = {one.plot.control, one.plot.groups[0].treatment}, one.plot.groups[0].fixed_mean
        pair = next((pair for pair in found.whole.differences if {pair.system, pair.other} == names), None)
        same = (one.plot.measure, one.found.meta.k) == (found.record.measure, found.tasks)
        if pair is None or mean is None or mean.p_value is None or not same:
            continue
        here, there = pair.p_value < found.record.alpha, verdict(mean.test, one.plot.alpha) is Verdict.SIGNIFICANT
        if here != there:
            words = {True: "differ significantly", False: "do not differ significantly"}
            adjusted = form.p_equals(pair.p_value, found.record.alpha)
            holm = form.p_equals(mean.p_value if mean.test.holm is None else mean.test.holm, one.plot.alpha)
            text = f"{pair.system} and {pair.other} {words[here]} here (adjusted {adjusted}), and {words[there]} in "
            said.append((text, Span(one.name, link=f"#{one.anchor}"), f" ({holm})."))
    return said


def _family(name: str, found: FoundFamily, compared: Sequence[Compared], named: bool) -> Section:
    diagram = Figure(
        f"figures/multiple-comparisons/{name}.svg",
        "Systems by their means; a bar joins those without a significant difference.",
        f"Diagram of the systems' means, {name}. The table has the numbers.",
    )
    notes = [Note(warning) for warning in found.record.warnings]
    file = f"tables/multiple-comparisons/{name}.tsv"
    table = Folded("Differences", [replace(differences(found), source=file)], f"tables/multiple-comparisons/{name}.md")
    further: list[Text] = [*filter(None, [size_alone(found)]), *other_verdicts(found, compared)]
    answered = [Paragraph(sentence(found)), *bulleted(further), *notes]
    blocks = [*answered, diagram, replace(standings(found), source=file), table]
    return Section(heading(found), blocks, name if named else "", f"family-{name}")
