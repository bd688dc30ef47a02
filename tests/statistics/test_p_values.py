"""p < alpha exactly where the interval excludes the null: for tasks, summaries and tests against a margin, at every
alpha, by every effect, interval, estimator and task interval, with and without seeds and clusters.
"""

import itertools
import math

import numpy as np
import pytest

from ranktrial.statistics.comparison import Comparison, TaskScores, compare
from ranktrial.statistics.effects import all_effects
from ranktrial.statistics.estimators import all_estimators
from ranktrial.statistics.intervals import all_intervals
from ranktrial.statistics.method import Method
from ranktrial.statistics.summaries import Summary, equivalence, half_width
from ranktrial.statistics.task_intervals import all_task_intervals

ALPHAS = (0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.31, 0.5)
DESIGNS = ("plain", "seeds", "clusters", "common queries")
WAYS = [
    *((effect, interval, "REML", "t") for effect, interval in itertools.product(all_effects(), all_intervals())),
    *(("MD", interval, estimator, "normal") for interval, estimator in itertools.product(all_intervals(),
                                                                                       all_estimators())),
    *((effect, "equal-weights", "REML", kind) for effect, kind in itertools.product(all_effects(),
                                                                                   all_task_intervals())),
]  # fmt: skip


def tasks_of(design: str, k: int, generator: np.random.Generator) -> list[TaskScores]:
    """k tasks of 6 to 14 queries, whose values are coarse enough for ties and for differences of 0."""
    found = []
    for number in range(k):
        n, seeds = (10, 1) if design == "common queries" else (int(generator.integers(6, 15)), 1)
        seeds = 3 if design == "seeds" else seeds
        control = generator.uniform(0, 1, (n, 1)).round(1)
        noise = generator.normal(0, 0.1, seeds) if seeds > 1 else 0.0
        gains = generator.normal(generator.choice([0.0, 0.06, 0.15]), 0.12, (n, seeds)).round(2)
        treatment = control + gains * (generator.random((n, 1)) < 0.8) + noise
        clusters = {f"q{j}": f"c{j // 2}" for j in range(n)} if design == "clusters" else None
        corpus = "common" if design == "common queries" else None
        found.append(
            TaskScores(f"t{number}", control, treatment, [f"q{j}" for j in range(n)], corpus, clusters=clusters)
        )
    return found


def excludes(low: float, high: float, null: float) -> bool | None:
    """Whether an interval excludes a value; None where an end is equal to it but for rounding."""
    slack = 1e-9 * max(abs(low), abs(high), abs(null))
    if min(abs(low - null), abs(high - null)) <= slack:
        return None
    return not low <= null <= high


def agrees(p: float | None, low: float, high: float, alpha: float) -> bool:
    """Whether a p-value and an interval say the same of 0."""
    excluded = excludes(low, high, 0.0)
    return p is None or excluded is None or (p < alpha) == excluded


def check_margin(summary: Summary, margin: float, alpha: float) -> None:
    """Non-inferiority at alpha where the 1 - 2 alpha interval is above -margin; equivalence where it is within."""
    half = max(half_width(part, 2 * alpha) for part in summary.parts)
    low, high = summary.effect - half, summary.effect + half
    for lower_is_better in (False, True):
        found = equivalence(summary, margin, lower_is_better)
        if found.p_equivalence is None or alpha >= 0.5:
            continue
        worst = -high if lower_is_better else low
        if abs(worst + margin) > 1e-9 * margin:
            assert (found.p_non_inferiority < alpha) == (worst > -margin)
        if min(abs(low + margin), abs(high - margin)) > 1e-9 * margin:
            assert (found.p_equivalence < alpha) == (-margin < low and high < margin)


def check(found: Comparison, alpha: float) -> None:
    """All p-values and intervals of a comparison agree."""
    for result in found.tasks.values():
        one = result.interval
        if one is None:
            continue
        assert agrees(one.p_value, one.ci_low, one.ci_high, alpha), one
        assert one.log10_p == pytest.approx(math.log10(one.p_value), abs=1e-12)
        tested, margin = result.equivalence, found.method.margin
        if tested is None or tested.p_equivalence is None or alpha >= 0.5:
            continue
        if min(abs(tested.ci_low + margin), abs(tested.ci_high - margin)) > 1e-9:
            assert (tested.p_equivalence < alpha) == (-margin < tested.ci_low and tested.ci_high < margin)
            assert (tested.p_non_inferiority < alpha) == (tested.ci_low > -margin)
    meta = found.synthesis.meta
    if meta is None:
        return
    of_subsets = [*found.synthesis.leave_one_out.values(), *found.synthesis.cumulative.values()]
    given = [one.given_seeds for one in (meta, *of_subsets) if one.given_seeds]
    for summary in (meta.summary, meta.fixed, found.on_these, *given, *(one.summary for one in of_subsets)):
        assert agrees(summary.p_value, summary.ci_low, summary.ci_high, alpha), summary
        assert summary.p_value is None or summary.log10_p == pytest.approx(math.log10(summary.p_value), abs=1e-12)
        if summary is meta.summary and meta.k > 1:
            check_margin(summary, found.method.margin, alpha)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("effect", "interval", "estimator", "kind"), WAYS)
def test_p_is_below_alpha_exactly_where_the_interval_excludes_the_null(effect, interval, estimator, kind, design):
    generator = np.random.default_rng([*map(ord, effect + interval + kind + design)])
    for k in (1, int(generator.integers(2, 5))):
        tasks = tasks_of(design, k, generator)
        for alpha in generator.choice(ALPHAS, 3, replace=False).tolist():
            method = Method(
                effect=effect, interval=interval, estimator=estimator, task_interval=kind, alpha=alpha,
                own={"resamples": 199}, permutations=200, margin=0.07,
            )  # fmt: skip
            check(compare(tasks, method), alpha)


@pytest.mark.parametrize("interval", list(all_intervals()))
def test_the_p_value_of_a_summary_does_not_depend_on_alpha(interval):
    """Holm's correction multiplies it: a test at alpha / m is the same as p < alpha / m."""
    generator = np.random.default_rng(3)
    for design, k in itertools.product(DESIGNS, (2, 3, 5)):
        tasks = tasks_of(design, k, generator)
        found = {compare(tasks, Method(interval=interval, alpha=alpha)).over_collections.p_value for alpha in ALPHAS}
        assert len(found) == 1


def test_the_wider_of_two_intervals_has_the_larger_p_value():
    """Two tasks that agree: t(1) has the wider interval at .01, z at .05; p is that of t in both."""
    y, v = np.array([0.0985, 0.1015]), np.array([0.02**2] * 2)
    wide, narrow = (all_intervals()["knapp-hartung"].summary(y, v, 0.0, alpha) for alpha in (0.01, 0.05))
    by_t = math.sqrt(((y - y.mean()) ** 2).sum() / 2)  # of t(1), the standard error
    p_t = 2 * (0.5 - math.atan(y.mean() / by_t) / math.pi)
    p_z = math.erfc(y.mean() / math.sqrt(v[0] / 2) / math.sqrt(2))
    assert wide.p_value == narrow.p_value == pytest.approx(max(p_t, p_z), rel=1e-12) and p_t > 1000 * p_z
    assert narrow.df is None and wide.df == 1 and narrow.df_of_p == 1
