"""Notes on seeds, clustered queries and weights for figures and sentences of a comparison; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from ranktrial.records.comparison import MetaRecord
from ranktrial.reports.comparison.plot_text import degrees_of_freedom


def seeds_note(found: list[tuple[pd.DataFrame, MetaRecord]], system: Callable[[str], str]) -> str:
    """Which intervals of these effects and meta records include the variance between training seeds, in sentences;
    empty where no system is trained here. `system` gives a system's label.
    """
    said: dict[str, dict[str, None]] = {}
    unknown: dict[str, None] = {}
    for effects, meta in found:
        for role, record in meta.seeds.items() if isinstance(meta.seeds, dict) else []:
            names = {"control": [meta.control], "treatment": [meta.treatment]}
            name = " and ".join(system(name) for name in names.get(role, [meta.control, meta.treatment]))
            if record.status == "unknown":
                unknown[name] = None
            elif meta.meta is not None:
                lender = f" of {system(record.source)}" if record.status == "borrowed" else ""
                seeds = f"{name}: {record.spread.seeds} seeds{lender}" if record.spread else name
                said.setdefault(_includes_seeds(effects, meta), {})[seeds] = None
    parts = [form.format("; ".join(names)) for form, names in said.items()]
    if unknown:
        parts.append(
            f"The seed variance of {', '.join(unknown)} is unknown: intervals do not include it and are too narrow."
        )
    return " ".join(parts)


def _includes_seeds(effects: pd.DataFrame, meta: MetaRecord) -> str:
    """Which intervals include seed variance, as a sentence with a place for its sources."""
    shown = effects[effects["effect"].notna()]
    of_tasks = int(shown["seeds_variance"].notna().sum()) if "seeds_variance" in shown else 0
    if meta.meta is None or meta.meta.given_seeds is None:
        return "Intervals take the seeds as given ({})."
    if of_tasks == len(shown):
        return "Intervals include seed variance ({})."
    others = "those of tasks" if not of_tasks else f"those of {len(shown) - of_tasks} of {len(shown)} tasks"
    included = "Intervals of means" if not of_tasks else "Intervals"
    return f"{included} include seed variance ({{}}); {others} take the seeds as given."


def by_treatment(notes: Mapping[str, str]) -> str:
    """The notes of a figure's treatments: one where all have the same, else each with the name of its treatment."""
    if len(set(notes.values())) == 1:
        return next(iter(notes.values()))
    return " ".join(f"{treatment}: {note}" for treatment, note in notes.items() if note)


def clusters_note(effects: pd.DataFrame, meta: MetaRecord, task: Callable[[str], str]) -> str:
    """The tasks whose queries are clustered, with the design effect as estimated and the degrees of freedom of the
    t-test; empty if none is. `task` gives a task's label. What counts as 1 because clusters are the default's choice
    is said.
    """
    if not (clustered := clustered_tasks(effects)):
        return ""
    rows = effects[effects["task"].isin(clustered)].to_dict("records")
    degrees = [_df(row.get("t_df")) for row in rows]
    tasks = [
        f"{task(row['task'])} {row['clusters']:,.0f} ({row['design_effect']:.2f}{df})"
        for row, df in zip(rows, degrees, strict=True)
    ]
    counts_as_1 = ", values below 1 count as 1" if meta.clusters_as_independent else ""
    of_test = ", df of t" if any(degrees) else ""
    return f"Clusters of queries (design effect{counts_as_1}{of_test}): {'; '.join(tasks)}."


def _df(df: float | None) -> str:
    return "" if df is None or pd.isna(df) else f", {degrees_of_freedom(df)}"


def clustered_tasks(effects: pd.DataFrame) -> list[str]:
    """The tasks whose queries are clustered."""
    if "clusters" not in effects:
        return []
    return effects.loc[effects["clusters"].notna() & effects["design_effect"].notna(), "task"].tolist()


def note_of_test(effects: pd.DataFrame, meta: MetaRecord, test: str) -> str:
    """On how many tasks a test includes clusters of queries or seeds; empty if on none.

    `test` is t-test, randomisation or interval. Seeds enter what follows from a variance, not a randomisation test,
    which flips clusters as a whole unless they count as independent.
    """
    tested = int(effects["effect"].notna().sum())
    clustered = clustered_tasks(effects)
    if test == "randomisation":
        flipped = set(clustered) - set(meta.clusters_as_independent)
        return f" (clusters flipped as a whole on {_of(len(flipped), tested)})" if flipped else ""
    with_seeds = int((effects["seeds_variance"].astype(float) > 0).sum()) if "seeds_variance" in effects else 0
    parts = [f"cluster-robust on {_of(len(clustered), tested)}"] if clustered else []
    parts += [f"including seed variance, above 0 on {_of(with_seeds, tested)}"] if with_seeds else []
    return f" ({', '.join(parts)})" if parts else ""


def _of(some: int, whole: int) -> str:
    return f"all {whole} tasks" if some == whole > 1 else f"{some} of {whole} task{'' if whole == 1 else 's'}"


def negative_weights_note(effects: list[pd.DataFrame], task: Callable[[str], str]) -> str:
    """Which tasks have a weight below 0 in a summary of these effects, and why; empty if none has. `task` gives a
    task's label.
    """
    rows = [row for of_comparison in effects for row in of_comparison.itertuples(index=False)]
    below = ", ".join(dict.fromkeys(task(row.task) for row in rows if pd.notna(row.weight) and row.weight < 0))
    if not below:
        return ""
    return f"Negative weight ({below}): the effect correlates strongly with a more precise one."
