"""No interval goes beyond what a measure allows, and the cut changes no verdict: tasks, means, predictions, records."""

import itertools
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

import ir_measures
import numpy as np
import pytest

from ranktrial.experiment.synthesis_records import ComparisonSettings as Settings
from ranktrial.ir.measure_names import OF_JUDGEMENTS
from ranktrial.ir.measures import evaluate
from ranktrial.statistics.comparison import compare
from ranktrial.statistics.effects import all_effects
from ranktrial.statistics.intervals import all_intervals
from ranktrial.statistics.measure_scale import Range, range_of, reach_of
from ranktrial.statistics.method import Bayesian
from ranktrial.statistics.sensitivity import sensitivity
from ranktrial.statistics.significance import difference_of
from ranktrial.statistics.task_intervals import all_task_intervals
from ranktrial.synthesis.comparison_results import meta_record, rows, sensitivity_record
from tests.statistics.test_p_values import ALPHAS, DESIGNS, agrees, tasks_of

WAYS = [
    *((effect, interval, "t") for effect, interval in itertools.product(all_effects(), all_intervals())),
    *((effect, "equal-weights", kind) for effect, kind in itertools.product(all_effects(), all_task_intervals())),
]
REACH = {"MD": 1.0, "CORR": 1.0}  # a standardised difference may be anything


def intervals_in(value: object, at: str = "") -> Iterator[tuple[str, float, float, float | None]]:
    """All intervals of effects in a record: where they are, both ends, and the p-value of 0."""
    if is_dataclass(value):
        if hasattr(value, "ci_low"):
            yield at, value.ci_low, value.ci_high, getattr(value, "p_value", None)
        for field in fields(value):
            own = getattr(value, field.name)
            if field.name == "prediction_interval" and own:
                yield f"{at}.{field.name}", *own, None
            yield from intervals_in(own, f"{at}.{field.name}")
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from intervals_in(one, f"{at}[{key}]")


def far_apart(design: str, k: int, generator: np.random.Generator):
    """Few queries whose differences are nearly the largest that there are, of both signs."""
    stretch = np.array([0.0, 1.0]) if generator.random() < 0.5 else np.array([0.2, 0.8])
    return [
        replace(
            task,
            control=np.where(generator.random(task.control.shape) < 0.3, *stretch[::-1]),
            treatment=stretch[(generator.random(task.treatment.shape) < 0.8).astype(int)],
        )
        for task in tasks_of(design, k, generator)
    ]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("effect", "interval", "kind"), WAYS)
def test_no_interval_goes_beyond_the_largest_difference_and_verdicts_stay(effect, interval, kind, design):
    generator = np.random.default_rng([*map(ord, effect + interval + kind + design)])
    for k in (1, 2, int(generator.integers(3, 6))):
        tasks, alpha = far_apart(design, k, generator), float(generator.choice(ALPHAS))
        settings = Settings(
            control="c", treatment="t", measure="RR", effect=effect, interval=interval, task_interval=kind,
            alpha=alpha, own={"resamples": 199}, permutations=200, bayesian=Bayesian(), cumulative=True, reach=1.0,
        )  # fmt: skip
        found, uncut = compare(tasks, settings), compare(tasks, replace(settings, reach=None))
        same = sensitivity(found.tasks, settings, found.corpora, list(found.seed_effects.values()))
        record = meta_record(found.synthesis, settings, 1.0, sensitivity=sensitivity_record(same) if same else None)
        table = rows(found.tasks, found.synthesis.weights).dropna(subset="ci_low")
        ends = table[["task", "ci_low", "ci_high", "p_value"]].itertuples(index=False, name=None)
        reach = REACH.get(effect, np.inf)
        for at, low, high, p in [*intervals_in(record), *ends]:
            assert -reach <= low <= high <= reach, at
            assert agrees(p, low, high, alpha), at
        one, other = found.over_collections, uncut.over_collections
        if one is not None:
            width = other.half_width(alpha)
            assert (one.se, one.p_value, one.also) == (other.se, other.p_value, other.also)
            assert one.half_width(alpha) == width
            if effect != "CORR" and found.synthesis.meta.k > 1:
                assert other.ci_high - other.ci_low == pytest.approx(2 * width)


def test_such_intervals_would_go_beyond_it():
    generator = np.random.default_rng(1)
    outside = [compare(far_apart("plain", 2, generator)).over_collections for _ in range(20)]
    assert sum(one.ci_high > 1 or one.ci_low < -1 for one in outside) > 10


def test_the_range_of_a_measure_is_known_by_its_name_and_the_scale_of_its_values():
    shares, percent = [np.array([0.0, 0.7])], [np.array([0.5, 70.0])]
    for measure in ("nDCG@10", "AP(rel=2)@100", "accuracy", "F1", "mrr@10", "StRecall@5"):
        assert range_of(measure, shares) == Range(0, 1) and reach_of(measure, percent) == 100
    assert reach_of("nDCG@10", [np.array([0.1]), np.array([-0.4])]) == 2, "of differences"
    assert reach_of("mcc", shares) == reach_of("pMRR", shares) == 2
    for measure in ("seconds", "NumRet", "perplexity", "DCG@10", "alpha_DCG@5", ""):
        assert range_of(measure, shares) is None
    assert range_of("nDCG@10", [np.array([250.0])]) is None
    assert range_of("P@10", [np.array([])]) == Range(0, 1)


def test_measures_of_runs_have_the_range_that_they_are_said_to_have():
    generator = np.random.default_rng(2)
    documents = [f"d{i}" for i in range(30)]
    qrels = {f"q{j}": {one: int(grade) for one, grade in zip(documents, generator.integers(0, 4, 30), strict=True)}
             for j in range(6)}  # fmt: skip
    run = {query: {one: float(score) for one, score in zip(documents, generator.random(30), strict=True)}
           for query in qrels}  # fmt: skip
    names = [f"{name}@10" for name in ("nDCG", "RR", "P", "R", "Success", "ERR", "AP", "Judged")]
    names += ["Bpref", "Rprec", "RBP(rel=1)", "SetP", "SetR", "SetF", "SetAP", "IPrec@0.1", "infAP"]
    for name in names:
        low, high = range_of(name, ())
        values = evaluate(run, qrels, [name])[name]
        assert low <= values.min() and values.max() <= high, name
    known = {measure.NAME for measure in ir_measures.measures.registry.values()} - set(OF_JUDGEMENTS)
    assert {name for name in known if range_of(name, ()) is None} == {"NumRet", "NumRelRet", "alpha_DCG"} & known


def test_a_difference_ends_there_too():
    found = difference_of(np.array([1.0, 0.9]), np.array([0.0, 0.5]), 0.05, 1.0)
    assert (found.ci_low, found.ci_high) == (-1.0, 1.0) and found.p_value > 0.05
