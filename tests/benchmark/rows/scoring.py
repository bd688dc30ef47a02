"""Runs are scored by 30 measures: ir-measures as its documentation calls it, a run at a time, and ours; from files."""

from __future__ import annotations

import gzip
import os
import random
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.benchmark.row import Result, Work

if TYPE_CHECKING:
    from ranktrial.ir.trec import Qrels

TITLE = "30 measures of runs of 1,000 queries and 1,000 documents, against ir-measures"
UNIT = "runs"
CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)
MEASURES = [f"{name}@{k}" for name in ("nDCG", "P", "R") for k in CUTOFFS] + ["AP", "RR", "Rprec", "AP@100", "RR@10", "AP@10"]  # fmt: skip
TOLERANCE = 1e-6  # ir-measures reads scores as they are, and trec_eval's are 32-bit floats
_IN_PROCESS: dict[str, Qrels] = {}  # of a process that scores run by run


def prepare(folder: Path, small: bool) -> int:
    drawn = random.Random(1)
    runs, queries, documents = (1, 10, 100) if small else (4, 1000, 1000)
    with open(folder / "qrels", "w") as file:
        for query in range(queries):
            for document in drawn.sample(range(3 * documents), 50):
                file.write(f"q{query} 0 d{document} {drawn.choice((0, 1, 2))}\n")
    for number in range(runs):
        with gzip.open(folder / f"run-{number}.trec.gz", "wt", compresslevel=1) as file:
            for query in range(queries):
                for rank, document in enumerate(drawn.sample(range(3 * documents), documents)):
                    file.write(f"q{query} Q0 d{document} {rank + 1} {documents - rank} tag\n")
    return runs


def plain(folder: Path) -> Work:
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in MEASURES]

    def work() -> Result:
        result = {}
        for path in sorted(folder.glob("run-*")):
            qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels")))
            with gzip.open(path, "rt") as file:
                values = list(ir_measures.iter_calc(measures, qrels, ir_measures.read_trec_run(file.read())))
            table = {(value.query_id, str(value.measure)): value.value for value in values}
            queries = sorted({query for query, _ in table})
            result[path.name] = np.array([[table[query, str(measure)] for measure in measures] for query in queries])
        return result

    return work


def ours(folder: Path) -> Work:
    from ranktrial.ir.trec import read_qrels

    def work() -> Result:
        qrels = read_qrels(folder / "qrels")
        return {path.name: _table(path, qrels) for path in sorted(folder.glob("run-*"))}

    return work


def _table(path: Path, qrels: Qrels) -> np.ndarray:
    """A run's values, one row per query and one column per measure."""
    from ranktrial.ir.measures import evaluate
    from ranktrial.ir.trec import read_run

    table = evaluate(read_run(path), qrels, MEASURES)
    return table.loc[sorted(table.index), MEASURES].to_numpy()


def _begin(folder: Path) -> None:
    """Let a process import what it needs and read the judgements, as before the time of the other sides."""
    from ranktrial.ir import measures  # noqa: F401
    from ranktrial.ir.trec import read_qrels

    _IN_PROCESS["qrels"] = read_qrels(folder / "qrels")


def _in_process(path: Path) -> tuple[str, np.ndarray]:
    return path.name, _table(path, _IN_PROCESS["qrels"])


def ours_side_by_side(folder: Path) -> Work:
    """As many runs at a time as there are cores, each by a process of its own: so the workflow's jobs score them.

    The processes begin before the time. Their processor seconds include those of their start, their memory is not.
    """
    cores = os.cpu_count() or 1
    pool = ProcessPoolExecutor(cores, get_context("spawn"), _begin, (folder,))
    list(pool.map(_in_process, [min(folder.glob("run-*"))] * 2 * cores))

    def work() -> Result:
        with pool:
            return dict(pool.map(_in_process, sorted(folder.glob("run-*"))))

    return work


SIDES = {"plain": plain, "ours": ours, "ours, a run a core": ours_side_by_side}


def agree(side: str, plain: Result, ours: Result) -> str:
    apart = max(float(np.abs(plain[name] - ours[name]).max()) for name in plain)
    assert plain.keys() == ours.keys() and apart < TOLERANCE, f"values are {apart:.1e} apart"
    return f"values at most {apart:.0e} apart"
