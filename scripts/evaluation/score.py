"""Score a run: one value per query and measure.

Reads a run and the task's qrels; for queries with changed instructions, also the run and the qrels (`original`) of the
queries with their original ones. Writes a TSV (query_id, then one column per measure, full precision). As `trec_eval
-c` does, a judged query that the run lacks scores 0 (and is reported); a query of the run that has no judgement is
ignored. Ties are in trec_eval's order, unless the cells of a published table have the other one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text
from ranktrial.ir.measure_names import Original
from ranktrial.ir.measures import evaluate
from ranktrial.ir.runs import too_short
from ranktrial.ir.trec import none_judged, over_subtopics, read_qrels, read_run, read_subtopics, with_ascending_ties

Ties = Literal["descending", "ascending"]


def score(
    run: Path, qrels: Path, original: list[Path], metrics: Path,
    measures: Annotated[list[str], "measures by their ir-measures names, one column each"],
    ties: Annotated[Ties, "the order of documents of equal score by id: descending as in trec_eval"] = "descending",
    external: Annotated[bool, "the run is a user's file, whose depth is not known before"] = False,
) -> None:  # fmt: skip
    """Score a run: one value per query and measure."""
    before = Original(read_run(original[0]), read_qrels(original[1])) if original else None
    for remark in write_scores(run, qrels, metrics, measures, ties, before, external):
        print(f"{run}: {remark}", file=sys.stderr)


def write_scores(
    run_file: Path, qrels_file: Path, metrics: Path, names: list[str], ties: Ties = "descending",
    original: Original | None = None, external: bool = False,
) -> list[str]:  # fmt: skip
    """Score `run_file` and write `metrics`; return warnings about the query sets, as text.

    Raises UserError where the run holds not one query of the task.
    """
    ranked, subtopics = read_run(run_file), read_subtopics(qrels_file)
    qrels = over_subtopics(subtopics)
    if not qrels:
        raise UserError(f"{qrels_file}: this split has no judged query")
    if not ranked.keys() & qrels.keys():
        raise UserError(f"{run_file}: none of its {len(ranked)} queries is in {qrels_file}")
    table = evaluate(with_ascending_ties(ranked) if ties == "ascending" else ranked, qrels, names, subtopics, original)
    with atomic_text(metrics) as file:
        table.to_csv(file, sep="\t")
    missing, unjudged = len(qrels.keys() - ranked.keys()), len(ranked.keys() - qrels.keys())
    said = None if external else none_judged(ranked, qrels)  # of an external run, it was reported on import
    remarks = [said] if said else []
    if external and (short := too_short(max(map(len, ranked.values())), names)):
        remarks.append(f"warning: {short}")
    if missing:
        remarks.append(f"{missing} of {len(qrels)} judged queries are not in the run and score 0")
    if unjudged:
        remarks.append(f"{unjudged} queries of the run are not judged and are ignored")
    return remarks


if __name__ == "__main__":
    job(score)
