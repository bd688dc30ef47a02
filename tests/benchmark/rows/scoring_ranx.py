"""The runs and measures of the row scoring by ranx, as its documentation calls it: files are read, measures of each query kept.

All 30 measures have the same definitions there (nDCG with linear gains is its ndcg, RR its mrr, AP its map), so none is
left out. Ties are not compared: ranx breaks them as its sorting happens to, and these runs have none. ranx compiles by
numba, anew for ids of another length; that is done before the time. It takes all cores; ours takes one, or a core a run.
"""

from pathlib import Path

import numpy as np

from tests.benchmark.row import Result, Work
from tests.benchmark.rows import scoring

TITLE = "30 measures of runs of 1,000 queries and 1,000 documents, against ranx"
UNIT = scoring.UNIT
NEEDS = "ranx"  # no package of the project's
NAMES = {"nDCG": "ndcg", "P": "precision", "R": "recall", "AP": "map", "RR": "mrr", "Rprec": "r-precision"}

prepare, agree = scoring.prepare, scoring.agree


def in_ranx(measure: str) -> str:
    """The name of a measure in ranx."""
    name, at, cutoff = measure.partition("@")
    return NAMES[name] + at + cutoff


def plain(folder: Path) -> Work:
    from ranx import Qrels, Run, evaluate

    measures, paths = [in_ranx(measure) for measure in scoring.MEASURES], sorted(folder.glob("run-*"))

    def values(paths: list[Path]) -> Result:
        qrels, result = Qrels.from_file(str(folder / "qrels"), kind="trec"), {}
        for path in paths:
            run = Run.from_file(str(path))
            evaluate(qrels, run, measures)
            by_query = [run.scores[measure] for measure in measures]
            result[path.name] = np.array([[of[query] for of in by_query] for query in sorted(by_query[0])])
        return result

    values(paths[:1])  # compiles, for ids as long as these
    return lambda: values(paths)


SIDES = {"plain": plain, "ours": scoring.ours, "ours, a run a core": scoring.ours_side_by_side}
