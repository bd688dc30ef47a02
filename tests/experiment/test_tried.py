"""How many configurations were tried for a system: as many as the tables of its tuning have rows."""

import pytest

from ranktrial.experiment.descriptions import tried
from ranktrial.ir.fusion import weightings
from scripts.bm25.tune import combinations
from scripts.synthesis import planning
from tests.experiment.test_config import resolved

TUNED = {"type": "bm25", "tune": True, "grid": {"k1": [0.6, 0.9, 1.2], "b": [0.4, 0.75]}}
FUSION = {"type": "fusion", "systems": ["grid", "zero"], "method": "weighted-sum", "tune": True}
SELECTING = {"model": "m", "recipe": "r", "seeds": 3, "select_seed": {"task": "d/dev"}}
LEARNER = {"type": "lightgbm", "num_leaves": [7, 15], "learning_rate": [0.05, 0.1, 0.2]}
SYSTEMS = {
    "plain": {"type": "bm25"},
    "zero": {"model": "m"},
    "trained": {"model": "m", "recipe": "r", "seeds": 3},
    "grid": TUNED,
    "feedback": TUNED | {"feedback": "rm3"},
    "given": {"type": "bm25", "k1": 1.2, "b": 0.75, "tune": True, "feedback": "rm3"},
    "likelihood": {"type": "query-likelihood", "tune": True, "grid": {"mu": [10, 20]}},
    "fused": FUSION,
    "again": FUSION | {"systems": ["fused", "grid"], "tune": False, "weights": {"fused": 1, "grid": 1}},
    "reranked": {"model": "m", "rerank": {"first_stage": "grid", "depth": 5}},
    "selecting": SELECTING,
    "both-selected": {"type": "fusion", "systems": ["selecting", "zero"]},
    "learnt": {"type": "learning-to-rank", "features": "few", "learner": LEARNER},
    "learnt-once": {"type": "learning-to-rank", "features": "few", "learner": "lightgbm"},
}
FEATURES = {"few": {"first_stage": "grid", "depth": 10, "of": ["BM25"]}}


def experiment(**comparisons):
    return resolved({"systems": SYSTEMS, "features": FEATURES, "comparisons": comparisons})


@pytest.mark.parametrize(
    ("system", "count"),
    [
        *[(name, 1) for name in ("plain", "zero", "trained")],
        ("grid", 6),
        ("feedback", 6 + 27),
        ("given", 1 + 27),  # without feedback, then each combination of it
        ("likelihood", 2),
        ("fused", 6 + 11),
        ("again", 6 + 11),  # the grid stands behind it twice and was tried once
        ("reranked", 6),
        ("selecting", 3),
        ("both-selected", 3),
        ("learnt", 6 + 6),
        ("learnt-once", 6),
    ],
)
def test_what_was_tried_for_a_system(system, count):
    assert tried(experiment(), system) == count


def test_the_counts_are_those_of_the_jobs_that_tune():
    settings = experiment().systems["feedback"].settings
    ways = combinations(settings.feedback["rm3"])
    assert len(combinations(settings.parameters)) + len(ways) == 33
    assert len(list(weightings(10, 2))) == 11


def test_only_comparisons_of_what_was_tuned_are_reported():
    compared = {"tuned": {"control": "plain", "treatment": "fused"}, "plain": {"control": "plain", "treatment": "zero"}}
    assert planning.table_settings(experiment(**compared)) == {"tried": {"tuned": [1, 17]}}
    assert planning.table_settings(experiment(plain=compared["plain"])) == {}
