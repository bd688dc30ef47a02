"""What our numbers are held to: the printed cells of a table, to their last digit."""

from pathlib import Path

from scripts.evaluation.score import score
from scripts.ir.measures import evaluate
from scripts.ir.trec import Run, read_qrels, read_run


def differing(run: Path, qrels: Path, cells: dict[str, str], metrics: Path) -> dict[str, tuple[str, str]]:
    """The cells whose printed value is not ours: measure -> (printed, ours).

    As trec_eval has it: the columns of MAP, P and RR, and of R from 3 documents on. The thesis's scorer breaks ties for
    the other columns in another way, the smaller document number first; so are they compared here.
    """
    odd = {name for name in cells if name.startswith("nDCG") or name == "R@1"}
    judged, ranked = read_qrels(qrels), read_run(run)
    score(run, qrels, metrics, [name for name in cells if name not in odd])
    header, *lines = metrics.read_text().splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    ours = {name: sum(float(row[name]) for row in rows) / len(rows) for name in cells if name not in odd}
    ours |= evaluate(smaller_number_first(ranked), judged, sorted(odd)).mean().to_dict()
    return {name: (value, f"{ours[name]:.3f}") for name, value in cells.items() if f"{ours[name]:.3f}" != value}


def smaller_number_first(run: Run) -> Run:
    """The run with scores that put documents of equal score in the order of their numbers."""
    orders = {query: sorted(scores, key=lambda one: (-scores[one], int(one))) for query, scores in run.items()}
    return {query: {document: -float(rank) for rank, document in enumerate(order)} for query, order in orders.items()}
