"""Compare treatment with control over the tasks of one comparison.

Reads the metrics files of both systems (metrics/{task}/{system}/seed-{seed}.tsv), their runs and the tasks' judgements.
Writes effects/{comparison}.tsv, one row per task, and meta/{comparison}.json, the summary effect and its heterogeneity;
both at full double precision (ranktrial/synthesis/one_comparison.py). The treatment's values may be those of another
task with the same queries (treatment_on), and both sides may be gains over other systems (gain_over).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.settings import write_record
from ranktrial.common.tables import write_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.experiment.synthesis_records import ComparisonSettings as Settings
from ranktrial.ir.nouns import nouns_of
from ranktrial.ir.scores import check_scales
from ranktrial.ir.trec import Qrels, read_qrels
from ranktrial.ir.trec import relevant as relevant_documents
from ranktrial.statistics.seeds import CONTROL, TREATMENT
from ranktrial.synthesis import one_comparison
from ranktrial.synthesis.comparing import DependenceData, read_clusters
from ranktrial.synthesis.metrics_files import (
    Scores,
    by_task,
    by_task_and_system,
    gain,
    paired,
    read_scores,
    seeds_by_task,
)
from ranktrial.synthesis.one_comparison import Pairs
from ranktrial.synthesis.unjudged import readers


def read_pairs(control: Sequence[Path], treatment: Sequence[Path], settings: Settings) -> tuple[Pairs, list[str]]:
    """The scores of both systems by task, on the queries that both have; and which queries are left out, as text."""
    of_control, of_treatment = (by_task_and_system(list(files)) for files in (control, treatment))
    pairs: Pairs = {}
    said: list[str] = []
    for task, systems in of_control.items():
        measure = settings.measure_on.get(task, settings.measure)
        others = of_treatment[settings.treatment_on.get(task, task)]
        own, left_out = _side(systems, settings.gain_over.get(CONTROL), task, measure)
        other, also_left_out = _side(others, settings.gain_over.get(TREATMENT), task, measure)
        both = {settings.control: own, settings.treatment: other}
        check_scales({name: one.values.to_numpy().ravel().tolist() for name, one in both.items()}, task, measure)
        on_control, on_treatment, unpaired = paired(own, other, task, nouns_of(settings.measure, settings.of_tasks))
        pairs[task] = on_control, on_treatment
        said += filter(None, (left_out, also_left_out, unpaired))
    return pairs, said


def _side(systems: Mapping[str, list[Path]], over: str | None, task: str, measure: str) -> tuple[Scores, str | None]:
    """The scores of one side, a system's or its gain over another one; and which queries are left out, as text."""
    (name,) = systems.keys() - {over}
    own = read_scores(systems[name], measure)
    return gain(own, read_scores(systems[over], measure), task) if over else (own, None)


def dependence_data(settings: Settings, qrels: Mapping[str, Qrels], siblings: Sequence[Path]) -> DependenceData:
    """What the comparison's tasks share beyond their values, from the files that the settings name and of siblings."""
    by_system: dict[str, list[Path]] = {}
    for path in siblings:
        by_system.setdefault(fields_of("metrics", path)["system"], []).append(path)
    return DependenceData(
        {task: {query: relevant_documents(of_task, query) for query in of_task} for task, of_task in qrels.items()},
        {task: read_clusters(Path(path)) for task, path in settings.cluster_files.items()},
        {
            system: {
                task: read_scores(files, settings.measure_on.get(task, settings.measure)).values.to_numpy()
                for task, files in by_task(paths).items()
            }
            for system, paths in by_system.items()
        },
    )


def compare(
    control: list[Path], treatment: list[Path], siblings: list[Path], runs: list[Path], effects: Path, meta: Path,
    settings: Settings,
) -> None:  # fmt: skip
    """Compare treatment with control over the tasks of one comparison."""
    pairs, unpaired = read_pairs(control, treatment, settings)
    qrels = {task: read_qrels(Path(file)) for task, file in (settings.qrels | settings.judgements).items()}
    dependence = dependence_data(settings, qrels, siblings)
    sides = {CONTROL: (settings.control, control), TREATMENT: (settings.treatment, treatment)}
    seeds = {name: seeds_by_task(files, settings.gain_over.get(role)) for role, (name, files) in sides.items()}
    found = one_comparison.compare(pairs, settings, dependence, qrels, readers(runs), unpaired, seeds)
    for warning in found.meta.warnings:
        shown = "warning: " if warning in found.lacking else ""  # in the terminal as well
        print(f"{effects.stem}: {shown}{warning}", file=sys.stderr)
    write_table(effects, found.effects)
    write_record(meta, found.meta)


if __name__ == "__main__":
    job(compare)
