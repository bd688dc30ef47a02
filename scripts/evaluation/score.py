"""Score a run: one value per query and measure.

Reads a run and the task's qrels. Writes a TSV (query_id, then one column per measure, full precision). As `trec_eval
-c` does, a judged query that the run lacks scores 0 (and is reported); a query of the run that has no judgement is
ignored. Documents of equal score are in trec_eval's order, unless the cells of a published table have the other one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_text
from scripts.ir.measures import evaluate
from scripts.ir.trec import none_judged, read_qrels, read_run, with_ascending_ties


@dataclass(frozen=True)
class Settings:
    measures: Annotated[list[str], "measures by their ir-measures names, one column each"]
    ties: Annotated[
        Literal["descending", "ascending"], "the order of documents of equal score by id: descending as in trec_eval"
    ] = "descending"


def score(run_file: Path, qrels_file: Path, metrics: Path, names: list[str], ties: str = "descending") -> list[str]:
    """Score `run_file` and write `metrics`; returns what is odd about the query sets, as text.

    Raises UserError where the run holds not one query of the task.
    """
    ranked, qrels = read_run(run_file), read_qrels(qrels_file)
    if not qrels:
        raise UserError(f"{qrels_file}: this split has not one judged query")
    if not ranked.keys() & qrels.keys():
        raise UserError(f"{run_file}: not one of its {len(ranked)} queries is in {qrels_file}")
    table = evaluate(with_ascending_ties(ranked) if ties == "ascending" else ranked, qrels, names)
    with atomic_text(metrics) as file:
        table.to_csv(file, sep="\t")
    missing, unjudged = len(qrels.keys() - ranked.keys()), len(ranked.keys() - qrels.keys())
    remarks = [said] if (said := none_judged(ranked, qrels)) else []
    if missing:
        remarks.append(f"{missing} of {len(qrels)} judged queries are not in the run and score 0")
    if unjudged:
        remarks.append(f"{unjudged} queries of the run are not judged and are ignored")
    return remarks


def main() -> None:
    arguments = parser(__doc__, "run", "qrels", "metrics", settings=Settings).parse_args()
    settings = arguments.settings
    for remark in score(arguments.run, arguments.qrels, arguments.metrics, settings.measures, settings.ties):
        print(f"{arguments.run}: {remark}", file=sys.stderr)


if __name__ == "__main__":
    run(main)
