"""Take over an external system's run file: checked, cut at the experiment's depth, in trec_eval's order.

Reads a TREC run (plain or gzip) and the task's qrels; writes a run of the experiment. A run that has not one query of
the task is refused here, before it is scored.
"""

from __future__ import annotations

from pathlib import Path

from scripts.common.cli import parser
from scripts.common.errors import UserError, run
from scripts.common.trec import read_qrels, read_run, top, write_run


def import_run(source: Path, qrels_file: Path, target: Path, depth: int, tag: str) -> None:
    """Check `source` and write its first `depth` documents a query to `target`. Raises UserError with the line."""
    ranked, qrels = read_run(source), read_qrels(qrels_file)
    if not ranked.keys() & qrels.keys():
        raise UserError(f"{source}: not one of its {len(ranked)} queries is in the task's qrels ({qrels_file})")
    write_run(target, {query: top(scores, depth) for query, scores in ranked.items()}, tag)


def main() -> None:
    arguments = parser(__doc__, "source", "qrels", "run").parse_args()
    settings = arguments.settings
    import_run(arguments.source, arguments.qrels, arguments.run, settings["depth"], settings["tag"])


if __name__ == "__main__":
    run(main)
