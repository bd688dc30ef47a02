"""Compare two systems, or many, on the queries of tasks: from values in memory to everything that is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ranktrial.api import evaluating
from ranktrial.api.findings import Findings
from ranktrial.api.methods import Methods, methods_of
from ranktrial.api.printed_effects import from_effects, is_effects
from ranktrial.api.scored import PAIR, Scored, of_frame, of_pairs
from ranktrial.common.errors import UserError, shortened
from ranktrial.common.extras import names_extras
from ranktrial.common.wording import hint
from ranktrial.ir.controls import control_of
from ranktrial.ir.nouns import nouns_of
from ranktrial.ir.scores import check_scales
from ranktrial.ir.trec import relevant
from ranktrial.statistics.effects import effect_named
from ranktrial.synthesis.comparing import DependenceData
from ranktrial.synthesis.families import Settings as FamilySettings
from ranktrial.synthesis.families import compared_at_once
from ranktrial.synthesis.metrics_files import Scores, paired
from ranktrial.synthesis.one_comparison import Results
from ranktrial.synthesis.one_comparison import compare as compare_two

FORMS = "a DataFrame, {task: (control, treatment)}, or {system: run} with qrels="
MOST = 50  # systems, that is 1,225 pairs; with more, figures and tables of letters are unreadable


@names_extras()
def compare(
    data: Any = None,
    *,
    control: str | None = None,
    treatment: str | Sequence[str] | None = None,
    measure: str | None = None,
    lower_is_better: bool = False,
    qrels: Any = None,
    seed: int = 42,
    **statistics: Any,
) -> Findings:
    """Compare systems by their values per query, as a comparison of the workflow does, with its defaults.

    Two systems are compared with each other. Of more, without a control, all pairs are (letters, intervals of ranks);
    with a control, each other system is compared with it. Effects are treatment minus control, in units of the measure
    for MD. Methods and their sources: docs/formulas.md.

    Args:
        data: one of

            - a DataFrame with the columns task, query (or sample), system, value and, for several trainings, seed; the
              names of columns may be others that say the same, and without a column of systems each column of values is
              a system
            - `{task: (control, treatment)}`: arrays of shape (queries,) or (queries, seeds) in one order of queries, or
              Series by query id
            - `{system: run}`, with `qrels`; both as in `evaluate`. Unjudged documents are then taken into account
            - a DataFrame with the columns task, yi and vi: effects with their variances (squared standard errors), as
              papers print them

        control: name of the system with which others are compared; of two, by default the one that is called so
            (bm25, baseline, control, gold), else the first. Names the first of each pair of arrays.
        treatment: names of the other systems, by default all. Names the second of each pair of arrays.
        measure: the measure that is compared, where the data has several; otherwise its name. Of runs: nDCG@10.
        lower_is_better: of the measure.
        qrels: judgements; queries that share a relevant document are clusters.
        seed: of the randomisation tests.
        **statistics: the keys of a comparison in a configuration, with its defaults: effect ("MD", "SMD", "d_av",
            "CORR"), alpha, estimator, interval, task_interval, margin (in units of the measure), seeds, clusters
            (`{task: {query: cluster}}`) … (docs/configuration.md); of all pairs, alpha.

    Returns:
        The findings, which print as their sentence.

    Raises:
        UserError: in one line, for data of another form (with row or column), an unknown name, and a statistic that is
            not allowed.
    """
    if measure is not None and not isinstance(measure, str):
        raise UserError(f"compare: measure: expected a name, not {shortened(measure)}")
    if data is None:
        raise UserError(f"compare: no data; expected as the first argument {FORMS}")
    how = methods_of(statistics, lower_is_better, seed)
    if hasattr(data, "to_pandas"):  # of Polars or Arrow
        data = data.to_pandas()
    if is_effects(data):
        return from_effects(data, how, measure, (control or PAIR[0], _one(treatment) or PAIR[1]), statistics)
    scored = _scored(data, control, treatment, measure, qrels)
    fixed = isinstance(data, Mapping) and not scored.runs
    chosen = list(scored.systems) if fixed else _chosen(scored.systems, control, treatment)
    scored = scored.of(chosen)
    clusters = statistics.get("clusters", {})
    if isinstance(clusters, Mapping) and (unknown := [task for task in clusters if str(task) not in scored.tables]):
        raise UserError(f"compare: clusters: no task {unknown[0]!r}{hint(str(unknown[0]), scored.tables)}")
    known = DependenceData(
        {task: {query: relevant(of, query) for query in of} for task, of in scored.qrels.items()},
        {str(task): dict(of) for task, of in clusters.items()} if isinstance(clusters, Mapping) else {},
    )
    two = len(chosen) == 2
    against = control if control or not two else chosen[0] if fixed else control_of(chosen)
    if not against and (unused := [name for name in statistics if name != "alpha"]):
        problem = "not used to compare all pairs of systems; name a control, or leave it out"
        raise UserError(f"compare: {unused[0]}: {problem}")
    treatments = [name for name in chosen if name != against] if against else []
    results = [_two(scored, against, name, how, known) for name in treatments if against]
    together = not two and effect_named(how.statistics.effect).HAS_DIFFERENCE
    family = _family(scored, chosen, against, how) if together else None
    return Findings.of(scored, results, family, how, statistics)


def _one(treatment: str | Sequence[str] | None) -> str | None:
    return treatment if isinstance(treatment, str) or treatment is None else next(iter(treatment), None)


def _scored(
    data: Any, control: str | None, treatment: str | Sequence[str] | None, measure: str | None, qrels: Any
) -> Scored:
    """The values of the data, whatever its form. Raises UserError for another one."""
    if isinstance(data, pd.DataFrame):
        scored = of_frame(data, measure)
    elif not isinstance(data, Mapping):
        read = f"; rt.read({str(data)!r}) reads a file" if isinstance(data, str | Path) else ""
        raise UserError(f"expected {FORMS}, not {shortened(data)}{read}")
    elif data and all(isinstance(pair, tuple | list) for pair in data.values()) and qrels is None:
        scored = of_pairs(data, (control or PAIR[0], _one(treatment) or PAIR[1]), measure)
    elif qrels is not None:
        return evaluating.scored(qrels, data, measure)
    else:
        raise UserError("expected a pair (control, treatment) for each task, or qrels= beside runs")
    if qrels is None:
        return scored
    judged = evaluating.judgements(qrels)
    if unknown := [task for task in judged if task not in scored.tables]:
        raise UserError(f"qrels: no values of the task {unknown[0]}{hint(unknown[0], scored.tables)}")
    return replace(scored, qrels=judged)


def _chosen(systems: list[str], control: str | None, treatment: str | Sequence[str] | None) -> list[str]:
    """The systems to compare, a named control first. Raises UserError for an unknown one, and fewer than two."""
    treatments = [treatment] if isinstance(treatment, str) else list(treatment or ())
    for role, name in [("control", control)] * bool(control) + [("treatment", name) for name in treatments]:
        if name not in systems:
            raise UserError(f"{role}: no system {name!r}{hint(str(name), systems)}; there are {', '.join(systems)}")
    chosen = list(dict.fromkeys([*([control] if control else []), *(treatments or systems)]))
    if treatments and not control and len(chosen) < 2:
        chosen = list(dict.fromkeys([control_of([one for one in systems if one not in chosen] or chosen), *chosen]))
    if len(chosen) < 2:
        raise UserError(f"only the system {', '.join(chosen)}; expected at least two")
    if len(chosen) > MOST:
        raise UserError(f"{len(chosen)} systems; expected at most {MOST}: name some as treatment, or a control")
    return chosen


def _two(scored: Scored, control: str, treatment: str, how: Methods, known: DependenceData) -> Results:
    """One comparison. Raises UserError for values that cannot be paired."""
    pairs, unpaired, nouns = {}, [], nouns_of(scored.measure, scored.of_tasks)
    for task, of_task in scored.tables.items():
        own, other = of_task[control], of_task[treatment]
        values = {control: own.to_numpy().ravel().tolist(), treatment: other.to_numpy().ravel().tolist()}
        check_scales(values, task, scored.measure)
        on_control, on_treatment, said = paired(Scores(own, None), Scores(other, None), task, nouns)
        pairs[task] = on_control, on_treatment
        unpaired += [said] if said else []
    seeds = {"control": scored.several(control), "treatment": scored.several(treatment)}
    for task, of_task in scored.tables.items():
        for role, name in (("control", control), ("treatment", treatment)):
            if of_task[name].shape[1] not in (1, seeds[role]):
                problem = f"{of_task[name].shape[1]} seeds of {name}, and {seeds[role]} on another task"
                raise UserError(f"task {task}: {problem}; expected the same number, or one")
    trained = {"control": scored.trainings(control), "treatment": scored.trainings(treatment)}
    settings = how.settings(control, treatment, scored.measure, seeds, scored.of_tasks, trained)
    runs = {key: [partial(_same, run) for run in of] for key, of in scored.runs.items()}
    if runs:
        settings.external.extend((control, treatment))
    return compare_two(pairs, settings, known, scored.qrels, runs, unpaired)


def _same(run: Any) -> Any:
    return run


def _family(scored: Scored, systems: list[str], against: str | None, how: Methods) -> tuple[pd.DataFrame, Any]:
    """All pairs of systems, or all against the control."""
    settings = FamilySettings(
        systems=systems,
        against=against,
        measure=scored.measure,
        of_tasks=scored.of_tasks,
        alpha=how.statistics.alpha,
        seed=how.seed,
        lower_is_better=how.lower_is_better,
    )
    return compared_at_once(scored.tables, settings)
