"""What fine-tuning is worth: the training of the row training, with five seeds each by the documentation's example and by us.

Where the processor has bf16, also by us in bf16. nDCG@10 of exact search for the test questions of the same domain says how good each model is. Loading a
model, and this measuring, which is the same for both, are in the times: those of training alone stand in the agreement.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ranktrial.common.timing import clock
from ranktrial.ir.collection import passages_of
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_qrels
from tests.benchmark import inputs
from tests.benchmark.row import Result, Work
from tests.benchmark.rows import training

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

TITLE = "the quality of five fine-tunings, against the documentation's example"
UNIT = "pairs"
ONCE = True  # the seeds are its repeats
SEEDS = (1, 2, 3, 4, 5)
MEASURE, DEPTH = "nDCG@10", 100
LARGEST_Z = 4.0  # standard errors of the difference of two means, each of five seeds


def prepare(folder: Path, small: bool) -> int:
    """Write the pairs, and the questions, answers and judgements by which models are measured."""
    data, pairs = training.domain(), training.pairs(small)
    qrels = read_qrels(data / "qrels" / "test.qrels")
    qrels = {query: qrels[query] for query in list(qrels)[: 10 if small else None]}
    questions, answers = passages_of(data / "queries" / "test.jsonl"), passages_of(data / "corpus.jsonl")
    judged = {answer for of in qrels.values() for answer in of}
    kept = [name for number, name in enumerate(answers) if not small or number < 50 or name in judged]
    inputs.write_texts(
        folder,
        **pairs,
        qrels=qrels,
        queries={query: questions[query][0] for query in qrels},
        documents={name: answers[name][0] for name in kept},
    )
    return len(SEEDS) * len(pairs["anchors"])


def quality(model: SentenceTransformer, given: dict) -> float:
    """The mean of the measure over the questions."""
    from ranktrial.inference.exact import precedence, search
    from ranktrial.models.running import device

    queries, documents = (
        model.encode(list(given[texts].values()), batch_size=32, normalize_embeddings=True)
        for texts in ("queries", "documents")
    )
    ids = list(given["documents"])
    scores, rows = search(queries, documents, precedence(ids), min(DEPTH, len(ids)), device())
    run = {
        query: {ids[row]: float(score) for row, score in zip(*found, strict=True)}
        for query, *found in zip(given["queries"], rows, scores, strict=True)
    }
    return float(evaluate(run, given["qrels"], [MEASURE])[MEASURE].mean())


def side(folder: Path, by: Callable[[Path, int], tuple[SentenceTransformer, training.Train]]) -> Work:
    """Five trainings, each measured; the model that they start from is measured before."""
    given = inputs.read_texts(folder)
    untrained = quality(by(folder, SEEDS[0])[0], given)

    def one(seed: int) -> tuple[float, float]:
        model, train = by(folder, seed)
        start = clock()
        train()
        return float(clock() - start), quality(model, given)

    def work() -> Result:
        seconds, qualities = np.array([one(seed) for seed in SEEDS]).T
        return {"quality": qualities, "seconds": seconds, "untrained": np.array(untrained)}

    return work


SIDES = {"plain": lambda folder: side(folder, training.by_library), "ours": lambda folder: side(folder, training.by_us)}
if "ours, bf16" in training.SIDES:
    SIDES["ours, bf16"] = lambda folder: side(folder, training.in_bf16)


def agree(side: str, plain: Result, ours: Result) -> str:
    """The means over the seeds differ by no more than chance; one model is where both begin."""
    assert abs(plain["untrained"] - ours["untrained"]) < 1e-3, f"untrained {plain['untrained']} and {ours['untrained']}"
    one, other = plain["quality"], ours["quality"]
    assert len(one) == len(other) == len(SEEDS)
    apart = float(other.mean() - one.mean())
    error = float(np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / len(SEEDS)))
    assert abs(apart) <= LARGEST_Z * error, f"{MEASURE} is {apart:+.4f} apart, the standard error is {error:.4f}"
    took = " and ".join(f"{of['seconds'].mean():.1f}" for of in (plain, ours))
    return (
        f"{MEASURE} {one.mean():.4f} and {other.mean():.4f} (untrained {float(plain['untrained']):.4f}), "
        f"difference {apart:+.4f}, standard error {error:.4f} of five seeds; {took} s of training a seed"
    )
