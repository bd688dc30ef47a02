"""A plan of a further study in plain sentences; reads and writes nothing."""

from __future__ import annotations

from typing import Any

from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.reading import Labels


def sentence(plan: dict[str, Any]) -> str:
    """What the present design can show and, where there is a target, which design is enough."""
    return " ".join([*_present(plan), *_target(plan)])


def remarks(plan: dict[str, Any], labels: Labels) -> list[str]:
    """What the sentence rests on: where the variance is, how sure it is, and what is not known."""
    return [*_variance(plan), *_unknown(plan, labels)]


def number(value: float) -> str:
    """Two significant digits."""
    return form.fixed(value, form.decimals_for(value))


def design_text(row: dict[str, Any], mean: str = "") -> str:
    """The text of a design; `mean` says what mean its number of queries is."""
    collections = "" if row["collections"] == 1 else f"{row['collections']} collections of "
    seeds = "" if row["seeds"] == 1 else f", {row['seeds']} seeds"
    return f"{collections}{row['queries']:g} queries{mean}{seeds}"


def _present(plan: dict[str, Any]) -> list[str]:
    present = plan["present"]
    if present is None:
        return []
    rounded = {**present, "queries": round(present["queries"])}
    rounded["collections"] = max(2, rounded["collections"]) if "summary" in present else 1
    mean = " (harmonic mean)" if "summary" in present else ""
    ability = f"With {_percent(plan['power'])} power at the {plan['alpha']:g} level"
    level = f"{form.percent(plan['alpha'])} CI"
    alone = f"{number(present['task']['detectable'])} (expected {level}: ± {number(present['task']['half_width'])})"
    if "summary" not in present:
        return [f"{ability}, the present design, {design_text(rounded)}, detects an effect of {alone}."]
    summary = present["summary"]
    return [
        f"{ability}, the present design, {design_text(rounded, mean)}, detects a mean effect over collections of "
        f"{number(summary['detectable'])} (expected {level}: ± {number(summary['half_width'])}), and on one such "
        f"collection alone an effect of {alone}."
    ]


def _variance(plan: dict[str, Any]) -> list[str]:
    present = plan["present"]
    if present is None:
        return []
    if "summary" not in present:
        return ["One collection does not show how much collections differ, so no summary is planned."]
    share = f"{100 * present['share_between_collections']:.0f}% of the variance of the present summary"
    parts = [f"{share} is between collections: it falls with more collections, not with more queries."]
    if high := present["summary_with_high_tau2"]:
        end = f"at the upper end of its interval the present design detects {number(high['detectable'])}"
        parts.append(f"\N{GREEK SMALL LETTER TAU} is itself uncertain: {end}.")
    return parts


def _target(plan: dict[str, Any]) -> list[str]:
    target = plan["target"]
    if not target:
        return ["State plan_study.effect or half_width to find the cheapest design."] if plan["present"] is None else []
    aim = f"To detect {target['effect']:g}" if "effect" in target else f"For a half-width of {target['half_width']:g}"
    parts = []
    for test, where in (("summary", "over collections"), ("task", "in one collection")):
        of_test = [row for row in plan["designs"] if row["test"] == test]
        if of_test:
            parts.append(f"{aim} {where}, {_enough(plan, test, of_test)}.")
    return parts


def _enough(plan: dict[str, Any], test: str, rows: list[dict[str, Any]]) -> str:
    if best := plan["cheapest"][test]:
        hours = "" if best["hours"] is None else f" ({number(best['hours'])} hours{_devices(plan)})"
        of_few = (
            "the design considered with the fewest queries"
            if best["hours"] is None
            else "the cheapest design considered"
        )
        return f"{of_few} is {design_text(best)}{hours}"
    text = f"no design considered is enough{_closest(plan, rows)}"
    if test == "task":
        return text
    most = {key: max(row[key] for row in plan["designs"]) for key in ("queries", "seeds")}
    of_each = design_text({**most, "collections": 1})
    number_of = plan["enough_collections"]
    needed = f"{number_of} collections would be" if number_of else "no number of collections is"
    return f"{text}; with {of_each} each, {needed}"


def _closest(plan: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    best = min(rows, key=lambda row: row[plan["curves"]["quantity"]])
    return f" (the closest: {number(best[plan['curves']['quantity']])}, with {design_text(best)})"


def _devices(plan: dict[str, Any]) -> str:
    devices = plan.get("devices", [])
    return f" on {' and '.join(devices)}" if devices else ""


def _unknown(plan: dict[str, Any], labels: Labels) -> list[str]:
    parts = []
    for name in plan.get("unknown_seed_variance", []):
        parts.append(
            f"{labels.system(name)} was trained with one seed: its seed variance is unknown and taken as 0, so that "
            "these numbers are optimistic."
        )
    if given := [labels.system(name) for name in plan.get("given", [])]:
        parts.append(
            f"The runs of {' and '.join(given)} are given: the variance of their training is unknown and taken as 0."
        )
    if plan["target"] and plan.get("untimed") and any(row["hours"] is not None for row in plan["designs"]):
        parts.append(f"The hours of {' and '.join(map(labels.system, plan['untimed']))} are not known and not counted.")
    return parts


def _percent(share: float) -> str:
    return f"{100 * share:.10g}%"
