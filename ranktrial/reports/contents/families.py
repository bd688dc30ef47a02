"""Each multiple comparison with its answer, diagram, means with letters, differences; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.families import FoundFamily
from ranktrial.reports.comparison.family_text import CONDITIONS, differences, heading, sentence, size_alone, standings
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.comparison.verdict import Verdict, verdict
from ranktrial.reports.contents.comparisons import Compared
from ranktrial.reports.writing.content import Figure, Folded, Note, Paragraph, Section, Span, Text, bulleted

AT_ONCE = (
    "Each of these tests all its differences together: p-values are adjusted for the whole family, and intervals are "
    "simultaneous. Over tasks they hold for these tasks. Other collections are the subject of the comparisons of two "
    f"systems. {CONDITIONS}"
)


def families(found: Mapping[str, FoundFamily], labels: Labels, compared: Sequence[Compared] = ()) -> Section:
    """All multiple comparisons in the configuration's order, with those comparisons that have another verdict."""
    parts = [_family(name, one, labels, compared) for name, one in found.items()]
    return Section("Many systems at once", [Paragraph(AT_ONCE), *parts], anchor="families")


def other_verdicts(found: FoundFamily, compared: Sequence[Compared]) -> list[Text]:
    """The comparisons of two systems on these collections that have another verdict than the family has."""
    said: list[Text] = []
    for one in compared:
        names, mean = {one.plot.control, one.plot.groups[0].treatment}, one.plot.groups[0].fixed_mean
        pair = next((pair for pair in found.whole.differences if {pair.system, pair.other} == names), None)
        same = (one.plot.measure, one.found.meta.k) == (found.record.measure, found.tasks)
        if pair is None or mean is None or mean.own_p is None or not same:
            continue
        here, there = pair.p_value < found.record.alpha, verdict(mean, one.plot.alpha) is Verdict.SIGNIFICANT
        if here != there:
            words = {True: "differ significantly", False: "do not differ significantly"}
            adjusted = form.p_equals(pair.p_value, found.record.alpha)
            holm = form.p_equals(mean.own_p if mean.p_holm is None else mean.p_holm, one.plot.alpha)
            text = f"{pair.system} and {pair.other} {words[here]} here (adjusted {adjusted}), and {words[there]} in "
            said.append((text, Span(one.name, link=f"#{one.anchor}"), f" ({holm})."))
    return said


def _family(name: str, found: FoundFamily, labels: Labels, compared: Sequence[Compared]) -> Section:
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
    return Section(heading(found, labels), blocks, name, f"family-{name}")
