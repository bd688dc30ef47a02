"""A plan of a further study in plain sentences, and the table of all designs; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ranktrial.records.facts import Labels
from ranktrial.records.study_design import DesignRecord, FoundBasis, PlanRecord
from ranktrial.reports.comparison import number_text as form
from ranktrial.statistics.power import Target


def sentence(plan: PlanRecord) -> str:
    """What the present design can show and, if there is a target, which design is enough."""
    return plan.nouns.say(" ".join([*_present(plan), *_target(plan)]))


def remarks(plan: PlanRecord, labels: Labels) -> list[str]:
    """The assumptions of the sentence: the variance components, their uncertainty, and what is unknown."""
    return [*map(plan.nouns.say, _variance(plan)), *_unknown(plan, labels)]


def number(value: float) -> str:
    """Two significant digits."""
    return form.fixed(value, form.decimals_for(value))


def design_text(queries: float, collections: float, *seeds: int, mean: str = "") -> str:
    """The text of a design; `mean` says what mean its number of queries is."""
    of_collections = "" if collections == 1 else f"{collections} collections of "
    of_seeds = f", {' and '.join(map(str, dict.fromkeys(seeds)))} seeds" if {*seeds} - {1} else ""
    return f"{of_collections}{queries:g} queries{mean}{of_seeds}"


def _row_text(row: DesignRecord) -> str:
    return design_text(row.queries, row.collections, row.seeds)


def _present(plan: PlanRecord) -> list[str]:
    present = plan.present
    if present is None:
        return []
    ability, queries = f"With {_percent(plan.power)} power at the {plan.alpha:g} level", round(present.queries)
    level = f"{form.percent(plan.alpha)} CI"
    alone = f"{number(present.task.detectable)} (expected {level}: ± {number(present.task.half_width)})"
    if present.over_collections is None:
        design = design_text(queries, 1, *present.seeds)
        return [f"{ability}, the present design, {design}, detects an effect of {alone}."]
    design = design_text(queries, max(2, present.collections), *present.seeds, mean=" (harmonic mean)")
    summary = present.over_collections.summary
    return [
        f"{ability}, the present design, {design}, detects a mean effect over collections of "
        f"{number(summary.detectable)} (expected {level}: ± {number(summary.half_width)}), and on one such "
        f"collection alone an effect of {alone}."
    ]


def _variance(plan: PlanRecord) -> list[str]:
    if plan.present is None:
        return []
    found = plan.present.over_collections
    if found is None:
        return ["One collection does not show how much collections differ, so no summary is planned."]
    share = f"{100 * found.share_between_collections:.0f}% of the variance of the present summary"
    parts = [f"{share} is between collections: it falls with more collections, not with more queries."]
    if high := found.summary_with_high_tau2:
        end = f"at the upper end of its interval the present design detects {number(high.detectable)}"
        parts.append(f"\N{GREEK SMALL LETTER TAU} is itself uncertain: {end}.")
    return parts


def _target(plan: PlanRecord) -> list[str]:
    target = plan.target
    if target == Target():
        return ["Without a target (effect or half_width), no design is the cheapest."] if plan.present is None else []
    aim = f"For a half-width of {target.half_width:g}" if target.effect is None else f"To detect {target.effect:g}"
    parts = []
    for test, where in (("summary", "over collections"), ("task", "in one collection")):
        of_test = [row for row in plan.designs if row.test == test]
        if of_test:
            parts.append(f"{aim} {where}, {_enough(plan, test, of_test)}.")
    return parts


def _enough(plan: PlanRecord, test: str, rows: list[DesignRecord]) -> str:
    if best := plan.cheapest[test]:
        hours = "" if best.hours is None else f" ({number(best.hours)} hours{_devices(plan)})"
        of_few = (
            "the design considered with the fewest queries" if best.hours is None else "the cheapest design considered"
        )
        return f"{of_few} is {_row_text(best)}{hours}"
    text = f"no design considered is enough{_closest(plan, rows)}"
    if test == "task":
        return text
    of_each = design_text(max(row.queries for row in plan.designs), 1, max(row.seeds for row in plan.designs))
    enough = plan.enough_collections
    needed = f"{enough} collections would be" if enough else "no number of collections is"
    return f"{text}; with {of_each} each, {needed}"


def _closest(plan: PlanRecord, rows: list[DesignRecord]) -> str:
    best = min(rows, key=lambda row: plan.shown(row.precision))
    return f" (the closest: {number(plan.shown(best.precision))}, with {_row_text(best)})"


def _devices(plan: PlanRecord) -> str:
    devices = plan.basis.devices if isinstance(plan.basis, FoundBasis) else []
    return f" on {' and '.join(devices)}" if devices else ""


def _unknown(plan: PlanRecord, labels: Labels) -> list[str]:
    basis = plan.basis
    if not isinstance(basis, FoundBasis):
        return []
    parts = []
    for name in basis.unknown_seed_variance:
        parts.append(
            f"{labels.system(name)} was trained with one seed: its seed variance is unknown and taken as 0, so that "
            "these numbers are optimistic."
        )
    if given := [labels.system(name) for name in basis.given]:
        parts.append(
            f"The runs of {' and '.join(given)} are given: the variance of their training is unknown and taken as 0."
        )
    if plan.target != Target() and basis.untimed and any(row.hours is not None for row in plan.designs):
        parts.append(f"The hours of {' and '.join(map(labels.system, basis.untimed))} are not known and not counted.")
    return parts


def _percent(share: float) -> str:
    return f"{100 * share:.10g}%"


COLUMNS = ("test", "queries", "collections", "seeds", "variance", "df", "detectable", "half_width", "hours",
           "meets_target")  # fmt: skip


def designs(plans: Sequence[PlanRecord]) -> pd.DataFrame:
    """Every design of every plan, one row each; the cheapest that meets the target in each test is marked."""
    rows = []
    for plan in plans:
        best = [row for row in plan.cheapest.values() if row]
        for row in plan.designs:
            marked = "yes" if row in best else "no"
            numbers = vars(row) | vars(row.precision)
            rows.append({"plan": plan.plan, **{key: numbers[key] for key in COLUMNS}, "cheapest": marked})
    table = pd.DataFrame(rows, columns=["plan", *COLUMNS, "cheapest"])
    table["meets_target"] = table["meets_target"].map({True: "yes", False: "no"})
    return table
