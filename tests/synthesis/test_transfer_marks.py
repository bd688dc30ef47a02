"""Matrices of sources and targets: means, tests and marks against SciPy's and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ranktrial.experiment.synthesis_records import MatrixCell
from ranktrial.statistics.significance import difference_of
from ranktrial.synthesis.transfer import MatrixSettings, Values, matrix_rows, read_values

TARGETS = ("x", "y", "z")
RNG = np.random.default_rng(5)
QUERIES = 40


def one(values, seed="0"):
    return Values(np.asarray(values, float).reshape(len(values), -1), (seed,))


BASE = {target: RNG.uniform(0, 1, QUERIES) for target in TARGETS}


def with_p(p):
    """Differences whose paired t-test has this p-value."""
    noise = stats.zscore(RNG.normal(size=QUERIES), ddof=1)
    return 0.1 * (noise + stats.t.isf(p / 2, QUERIES - 1) / np.sqrt(QUERIES))


# 0.007 is below 0.01, and Holm's 2 x 0.007 of the second smallest of three is not.
PSEUDO = {t: BASE[t] + with_p(p) for t, p in zip(TARGETS, (1e-5, 0.007, 0.5), strict=True)}
MOVED = {
    t: PSEUDO[t][:, None] + RNG.normal(m, 0.1, (QUERIES, 2)) for t, m in zip(TARGETS, (0.0, -0.2, 0.1), strict=True)
}
VALUES = {t: {"bm25": one(BASE[t]), "p": one(PSEUDO[t]), "s": Values(MOVED[t], ("1", "2"))} for t in TARGETS}
CELLS = [
    *(MatrixCell("w", "source", target, "zero", "s") for target in TARGETS),
    MatrixCell("w", "source", "x", "full", "p"),
    *(MatrixCell("bm25", "baseline", target, "zero", "bm25") for target in TARGETS),
    *(MatrixCell("pseudo-labels", "pseudo-labels", target, "zero", "p") for target in TARGETS),
]


def table(alpha=0.01):
    return matrix_rows(MatrixSettings("RR", alpha, CELLS), VALUES).set_index(["source", "target", "shot"])


def test_the_marks_of_the_paper():
    """# pseudo-labels against BM25, * transfer against pseudo-labels: p below alpha; twice: also after Holm."""
    found, alpha = table(), 0.01
    for row, against, mark, own, other in (
        ("pseudo-labels", "baseline", "#", PSEUDO, BASE),
        ("w", "pseudo-labels", "*", {t: MOVED[t].mean(axis=1) for t in TARGETS}, PSEUDO),
    ):
        p = {t: stats.ttest_rel(own[t], other[t]).pvalue for t in TARGETS}
        ordered = sorted(p, key=p.get)
        by_hand, before = {}, 0.0
        for place, target in enumerate(ordered):  # Holm: the k-th smallest of m times m - k + 1, never falling
            before = by_hand[target] = min(1.0, max(before, (len(TARGETS) - place) * p[target]))
        for target in TARGETS:
            line = found.loc[(row, target, "zero")]
            assert line[f"{against}_p_value"] == pytest.approx(p[target], rel=1e-9)
            assert line[f"{against}_p_holm"] == pytest.approx(by_hand[target], rel=1e-9)
            assert line["mark"] == mark * sum(bool(value < alpha) for value in (p[target], by_hand[target]))
    assert set(found["mark"]) == {"", "#", "##", "**"}  # so that all of them are tested


def test_an_interval_and_t_are_scipys():
    line = table(0.05).loc[("w", "y", "zero")]
    test = stats.ttest_rel(MOVED["y"].mean(axis=1), PSEUDO["y"])
    interval = test.confidence_interval(0.95)
    assert (line["pseudo-labels_t"], line["pseudo-labels_df"]) == (pytest.approx(test.statistic), QUERIES - 1)
    assert (line["pseudo-labels_ci_low"], line["pseudo-labels_ci_high"]) == pytest.approx((interval.low, interval.high))


def test_means_and_spread_over_seeds():
    line = table().loc[("w", "x", "zero")]
    means = MOVED["x"].mean(axis=0)
    assert line["mean"] == pytest.approx(means.mean())
    assert line["sd"] == pytest.approx(means.std(ddof=1))
    assert (line["seeds"], line["n"]) == (2, QUERIES)
    assert pd.isna(table().loc[("bm25", "x", "zero"), "sd"])


def test_only_zero_shot_cells_are_tested():
    line = table().loc[("w", "x", "full")]
    assert line.filter(like="_p_").isna().all() and line["mark"] == ""


def test_the_same_difference_on_every_query_has_no_test():
    found = difference_of(np.array([0.5, 0.7]), np.array([0.4, 0.6]), 0.05, None)
    assert found.difference == pytest.approx(0.1) and found.p_value is None and found.ci_low is None


def test_systems_are_compared_on_the_queries_of_all(tmp_path):
    paths = []
    for system, seed, ids in (("a", 1, "123"), ("a", 2, "312"), ("b", 0, "234")):
        path = tmp_path / "metrics" / "t" / system / f"seed-{seed}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("query_id\tRR\n" + "".join(f"{n}\t{int(n) / 10 * seed}\n" for n in ids))
        paths.append(path)
    values, said = read_values(paths, "RR")
    assert values["t"]["a"].seeds == ("1", "2")
    assert values["t"]["a"].table == pytest.approx(np.array([[0.2, 0.4], [0.3, 0.6]]))
    assert values["t"]["b"].table == pytest.approx(np.zeros((2, 1)))
    assert said == ["t: 2 queries in only some of the systems, left out"]
