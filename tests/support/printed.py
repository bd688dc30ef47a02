"""What our numbers are held to: the printed cells of a table, to their last digit."""

from pathlib import Path

from ranktrial.common.tables import read_metrics
from scripts.evaluation.score import write_scores


def differing(run: Path, qrels: Path, cells: dict[str, str], metrics: Path) -> dict[str, tuple[str, str]]:
    """The cells whose printed value is not ours: measure -> (printed, ours).

    The columns of MAP, P and RR as trec_eval has them. The thesis's scorer has documents of equal score in the other
    order, by ascending id, for those of nDCG and R; so are they compared here.
    """
    ascending = [name for name in cells if name.startswith(("nDCG", "R@"))]
    ours: dict[str, float] = {}
    for names, ties in (([name for name in cells if name not in ascending], "descending"), (ascending, "ascending")):
        write_scores(run, qrels, metrics, names, ties)
        ours |= read_metrics(metrics).mean().to_dict()
    return {name: (value, f"{ours[name]:.3f}") for name, value in cells.items() if f"{ours[name]:.3f}" != value}
