"""A plan of a further study in plain sentences; reads and writes nothing."""

from __future__ import annotations

from typing import Any

from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.reading import Labels


def sentence(plan: dict[str, Any], labels: Labels) -> str:
    """What a plan says: what the present design can show, which design is enough, and what is not known."""
    parts = [*_present(plan), *_target(plan), *_unknown(plan, labels)]
    return " ".join(parts)


def number(value: float) -> str:
    """Two significant digits."""
    return form.fixed(value, form.decimals_for(value))


def design_text(row: dict[str, Any]) -> str:
    """A design in words."""
    collections = "" if row["collections"] == 1 else f"{row['collections']} collections of "
    seeds = "" if row["seeds"] == 1 else f", {row['seeds']} seeds"
    return f"{collections}{row['queries']:g} queries{seeds}"


def _present(plan: dict[str, Any]) -> list[str]:
    present = plan["present"]
    if present is None:
        return []
    rounded = {**present, "queries": round(present["queries"])}
    rounded["collections"] = max(2, rounded["collections"]) if "summary" in present else 1
    mean = " (harmonic mean)" if "summary" in present else ""
    ability = f"With {_percent(plan['power'])} power at alpha {plan['alpha']:g}"
    level = f"{form.percent(plan['alpha'])} interval"
    alone = f"{number(present['task']['detectable'])} (expected {level} ± {number(present['task']['half_width'])})"
    if "summary" not in present:
        return [f"{ability}, the present {design_text(rounded)} detect an effect of {alone}.",
                "One collection says nothing of how much collections differ, so no summary is planned."]  # fmt: skip
    summary = present["summary"]
    parts = [
        f"{ability}, the present {design_text(rounded)}{mean} detect a mean effect over collections of "
        f"{number(summary['detectable'])} (expected {level} ± {number(summary['half_width'])}), one such collection "
        f"alone an effect of {alone}."
    ]
    share = present["share_between_collections"]
    if share >= 0.5:
        parts.append(f"{100 * share:.0f}% of the summary's variance is between collections: only more of them lower it.")
    if high := present["summary_with_high_tau2"]:
        end = f"at the upper end of its interval the same design detects {number(high['detectable'])} only"
        parts.append(f"\N{GREEK SMALL LETTER TAU}² is itself uncertain: {end}.")
    return parts


def _target(plan: dict[str, Any]) -> list[str]:
    target = plan["target"]
    if not target:
        return ["State plan_study.effect or half_width to find the cheapest design."] if plan["present"] is None else []
    aim = f"detects {target['effect']:g}" if "effect" in target else f"has a half-width of {target['half_width']:g}"
    parts = []
    tests = {"summary": "Over collections", "task": "In one collection"}
    for test, where in tests.items():
        of_test = [row for row in plan["designs"] if row["test"] == test]
        if not of_test:
            continue
        if best := plan["cheapest"][test]:
            hours = "" if best["hours"] is None else f" ({number(best['hours'])} hours{_devices(plan)})"
            judged = "the fewest queries" if best["hours"] is None else "the cheapest"
            parts.append(f"{where}, {judged} with which a design {aim}: {design_text(best)}{hours}.")
        else:
            parts.append(f"{where}, no design considered {aim}{_closest(plan, of_test)}.")
            if test == "summary":
                parts.append(_enough(plan))
    return parts


def _closest(plan: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    best = min(rows, key=lambda row: row[plan["curves"]["quantity"]])
    return f" (at best {number(best[plan['curves']['quantity']])}, with {design_text(best)})"


def _enough(plan: dict[str, Any]) -> str:
    most = {key: max(row[key] for row in plan["designs"]) for key in ("queries", "seeds")}
    of_each = design_text({**most, "collections": 1})
    if plan["enough_collections"] is None:
        return f"With {of_each} no number of collections does."
    return f"With {of_each} it takes {plan['enough_collections']} collections."


def _devices(plan: dict[str, Any]) -> str:
    devices = plan.get("devices", [])
    return f" on {' and '.join(devices)}" if devices else ""


def _unknown(plan: dict[str, Any], labels: Labels) -> list[str]:
    parts = []
    for name in plan.get("unknown_luck", []):
        parts.append(f"{labels.system(name)} was trained with one seed: its luck is unknown and taken for 0, which flatters.")
    if given := [labels.system(name) for name in plan.get("given", [])]:
        parts.append(f"The runs of {' and '.join(given)} are given: the luck of their training is unknown, taken for 0.")
    if plan["target"] and plan.get("untimed") and any(row["hours"] is not None for row in plan["designs"]):
        parts.append(f"The hours of {' and '.join(map(labels.system, plan['untimed']))} are not known and not counted.")
    return parts


def _percent(share: float) -> str:
    return f"{100 * share:.10g}%"
