"""A sentence and a table on the unjudged documents of a comparison, if they could change its answer.

Reads and writes nothing. The answer is that on these collections: whether the mean difference is significant, before
correction, and its sign.
"""

from __future__ import annotations

from ranktrial.ir.measure_names import canonical, cutoff, parse
from ranktrial.records.comparison import MetaRecord, UnjudgedCase
from ranktrial.reports.comparison import mean_in_text
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.forest_data import Forest
from ranktrial.reports.writing.content import Table, columns
from ranktrial.statistics.meta_analysis.summaries import Summary

AS_JUDGED = "as judged"
FEW = 0.5  # share of judged documents below which extreme assumptions about the others allow any answer
CASES = {  # a case -> how a sentence puts it, how the table does
    AS_JUDGED: ("none is relevant", "Not relevant (as judged)"),
    "lowest": ("they are judged least favourably for {treatment}", "Least favourable to {treatment}"),
    "highest": ("they are judged most favourably for {treatment}", "Most favourable to {treatment}"),
    "all": ("all are relevant", "All relevant"),
    "condensed": ("they are removed (condensed lists)", "Removed (condensed lists)"),
}


def cases_of(meta: MetaRecord) -> dict[str, UnjudgedCase]:
    """The means as judged and in each other case; none if nothing is unjudged."""
    if meta.unjudged is None or meta.fixed_mean is None or meta.summary is None:
        return {}
    return {AS_JUDGED: UnjudgedCase(meta.fixed_mean, meta.summary), **meta.unjudged.cases}


def changing(meta: MetaRecord, alpha: float) -> dict[str, UnjudgedCase]:
    """The cases in which the answer on these collections is another than as judged."""
    cases = cases_of(meta)
    answers = {name: mean_in_text.sign(case.fixed_mean, alpha) for name, case in cases.items()}
    return {name: case for name, case in cases.items() if answers[name] != answers[AS_JUDGED]}


def remark(meta: MetaRecord, plot: Forest) -> str:
    """The share of judged documents, and in which cases the answer is another; empty if it is the same in all.

    If most documents are unjudged, the extreme cases always give another answer, so only the condensed case is given.
    """
    changed = changing(meta, plot.alpha)
    if not changed or meta.unjudged is None:
        return ""
    number, documents = (sum(of.values()) / len(of) for of in (meta.unjudged.number, meta.unjudged.documents))
    share = 1 - number / documents
    said = f"Of the documents {_ranks(plot.measure)}, {share:.0%} are judged; the others count as not relevant. "
    means = {name: mean_in_text.tested(case.fixed_mean, plot) for name, case in cases_of(meta).items()}
    if share < FEW:
        said += "With so few, extreme assumptions about the others allow any answer."
        if "condensed" in means:
            said += (
                f" Without unjudged documents (condensed lists), the mean {plot.effect.NOUN} is {means['condensed']}."
            )
    else:
        cases = [f"{means[name]} if {CASES[name][0]}" for name in changed]
        said += f"The answer depends on them: the mean {plot.effect.NOUN} is {', '.join(cases)}."
    return said.format(treatment=plot.groups[0].treatment)


def _ranks(measure: str) -> str:
    """Where a measure reads both runs."""
    name = canonical(measure)  # none for a measure that tasks have each their own of
    depth = cutoff(parse(name)) if name else None
    return f"in the top {form.spelled(depth)} of either system" if depth else "in the runs of both systems"


def cases_tables(meta: MetaRecord, plot: Forest) -> list[Table]:
    """Both means in each case, where the answer is another in one of them."""
    if not changing(meta, plot.alpha):
        return []
    rows = []
    for name, case in sorted(cases_of(meta).items(), key=lambda item: list(CASES).index(item[0])):
        means = [case.fixed_mean, case.summary] if meta.k > 1 else [case.fixed_mean]
        rows.append(
            [
                CASES[name][1].format(treatment=plot.groups[0].treatment),
                *(cell for mean in means for cell in _cells(mean, plot)),
            ]
        )
    heads = ["Unjudged documents", "On these collections", "p", "Over collections like these", "p (like these)"]
    caption = f"Mean {plot.effect.NOUN} in {plot.measure} by the relevance of unjudged documents; p without correction."
    return [Table(columns(heads[: len(rows[0])]), [rows], caption=caption)]


def _cells(mean: Summary, plot: Forest) -> list[str]:
    effect, low, high = mean_in_text.numbers(mean, plot)
    return [f"{effect} [{low}, {high}]", "" if mean.p_value is None else form.p_value(mean.p_value, plot.alpha)]
