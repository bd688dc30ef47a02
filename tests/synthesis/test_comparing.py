"""A whole comparison whose tasks, queries and seeds depend on one another: from values, and through the script."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ranktrial.experiment.synthesis_records import BORROWED, OWN, UNKNOWN, SeedsOf
from ranktrial.statistics.independent_tasks import meta_analysis
from ranktrial.statistics.seeds import DIFFERENCE, sd_interval
from ranktrial.statistics.task_results import task_warnings
from ranktrial.synthesis.comparing import DependenceData, Settings, compared, mixed_estimands, unknown_seeds
from ranktrial.synthesis.comparison_results import dependence_record, rows
from ranktrial.synthesis.metrics_files import Scores
from scripts.synthesis.compare import compare
from tests.support.calling import call
from tests.support.one_line import refused

BASE = {"control": "c", "treatment": "t", "measure": "RR", "effect": "MD", "estimator": "REML",
        "interval": "knapp-hartung", "task_interval": "t", "alpha": 0.05, "ddof": 1, "permutations": 500,
        "seed": 1, "cumulative": False, "small_tasks": "own"}  # fmt: skip


def scores(values: np.ndarray, prefix: str = "q") -> Scores:
    values = values[:, None] if values.ndim == 1 else values
    return Scores(pd.DataFrame(values, index=[f"{prefix}{j}" for j in range(len(values))]), None)


def pairs(k: int = 3, n: int = 40, m: int = 1, gain: float = 0.05) -> dict[str, tuple[Scores, Scores]]:
    g = np.random.default_rng(5)
    found = {}
    seed_effect = g.normal(0, 0.05, m)
    for i in range(k):
        control = g.normal(0.4, 0.1, n)
        found[f"t{i}"] = scores(control), scores((control + g.normal(gain, 0.2, n))[:, None] + seed_effect)
    return found


def test_without_anything_in_common_it_is_the_meta_analysis_of_independent_tasks():
    found = compared(pairs(), Settings(**BASE))
    effects = [result.effect for result in found.tasks.values()]
    expected = meta_analysis([e.estimate for e in effects], [e.variance for e in effects], interval="knapp-hartung")
    assert found.synthesis.meta == expected
    assert dependence_record(found, Settings(**BASE)) == {
        "dependence": None,
        "clusters": {},
        "clusters_as_independent": [],
    }
    table = rows(found.tasks, found.synthesis.weights)
    assert table[["clusters", "design_effect", "seeds_variance"]].isna().all(axis=None)
    assert table["interval_df"].tolist() == [39, 39, 39]


def opposed(m: int = 1) -> tuple[dict[str, tuple[Scores, Scores]], DependenceData]:
    """Two tasks of 40 queries in 20 pairs with a common document; a query's difference is about that of its partner
    with the other sign, so that pairs vary less than queries. The second task has no pairs."""
    g = np.random.default_rng(8)
    half = np.repeat(g.normal(0, 0.2, 20), 2) * np.tile([1, -1], 20)
    control = g.normal(0.4, 0.1, (2, 40))
    gains = np.stack([0.05 + half + g.normal(0, 0.05, 40), g.normal(0.05, 0.2, 40)])
    tasks = {f"t{i}": (scores(control[i]), scores(control[i] + gains[i])) for i in range(2)}
    relevant = {"t0": {f"q{j}": {f"d{j // 2}"} for j in range(40)}, "t1": {f"q{j}": {f"e{j}"} for j in range(40)}}
    return tasks, DependenceData(relevant)


@pytest.mark.parametrize("kind", ["t", "normal", "bootstrap-t", "bca", "randomisation"])
def test_clusters_that_nobody_asked_for_never_narrow_an_interval(kind):
    tasks, around = opposed()
    base = BASE | {"task_interval": kind, "own": {"resamples": 499}}
    by_default, asked, each = (
        compared(tasks, Settings(**base, clusters=clusters), around) for clusters in ("auto", "gold-document", "query")
    )
    one, other, query = (found.tasks["t0"] for found in (by_default, asked, each))
    assert one.observed.design_effect == other.observed.design_effect < 0.3  # shown as estimated
    assert one.effect.variance == query.effect.variance
    assert other.effect.variance == pytest.approx(other.observed.design_effect * query.effect.variance, rel=1e-12)
    widths = [result.interval.ci_high - result.interval.ci_low for result in (one, query, other)]
    assert widths[0] >= widths[1] > widths[2]
    assert one.randomisation == query.randomisation and one.t_test.p_value > query.t_test.p_value > other.t_test.p_value
    assert one.t_test.df == other.t_test.df == 19 and query.t_test.df == 39
    (warning,) = task_warnings(by_default.tasks)
    assert warning.startswith("design effect below 1: t0 (0.") and "clusters: gold-document" in warning
    assert not task_warnings(asked.tasks) and not task_warnings(each.tasks)
    assert dependence_record(by_default, Settings(**base))["clusters_as_independent"] == ["t0"]
    assert dependence_record(asked, Settings(**base))["clusters_as_independent"] == []


@pytest.mark.parametrize("kind", ["t", "bootstrap-t", "bca", "randomisation"])
def test_clusters_that_widen_are_used_as_estimated_whoever_chose_them(kind):
    g = np.random.default_rng(8)
    control, gains = g.normal(0.4, 0.1, 60), np.repeat(g.normal(0.05, 0.2, 20), 3) + g.normal(0, 0.05, 60)
    tasks = {"t0": (scores(control), scores(control + gains))}
    around = DependenceData({"t0": {f"q{j}": {f"d{j // 3}"} for j in range(60)}})
    base = BASE | {"task_interval": kind, "own": {"resamples": 499}}
    by_default, asked = (
        compared(tasks, Settings(**base, clusters=clusters), around).tasks["t0"]
        for clusters in ("auto", "gold-document")
    )
    assert by_default.observed.design_effect > 2
    assert by_default.effect == asked.effect and by_default.t_test == asked.t_test
    assert by_default.randomisation == asked.randomisation and by_default.interval == asked.interval


def test_clusters_of_a_file_are_used_as_estimated():
    tasks, around = opposed()
    file = {"t0": {f"q{j}": f"c{j // 2}" for j in range(40)}}
    found = compared(tasks, Settings(**BASE, cluster_files={"t0": "clusters.tsv"}), DependenceData({}, file))
    assert not found.tasks["t0"].observed.as_independent and not task_warnings(found.tasks)
    by_default = compared(tasks, Settings(**BASE), around).tasks["t0"]
    assert found.tasks["t0"].effect.variance < by_default.effect.variance


@pytest.mark.parametrize("m", [1, 4])
def test_seed_variance_widens_the_intervals_of_tasks_and_summary(m):
    source = SeedsOf(OWN, "t") if m > 1 else SeedsOf(BORROWED, "sibling")
    settings = Settings(**BASE, seed_sources={"treatment": source})
    siblings = {"sibling": {f"t{i}": np.zeros((40, 1)) + np.array([-0.1, 0.0, 0.1]) for i in range(3)}}
    given = compared(pairs(m=m), Settings(**BASE, seeds="conditional"))
    found = compared(pairs(m=m), settings, DependenceData(siblings=siblings))
    record = dependence_record(found, settings)["seeds"]["treatment"].spread
    meta = found.synthesis.meta
    assert meta.given_seeds == given.synthesis.meta.summary
    if m == 4:  # Satterthwaite's degrees of freedom would narrow the interval of t(2): that of given seeds stands
        assert record.variance > 0 and meta.summary.p_value >= meta.given_seeds.p_value
        for name in ("ci_low", "ci_high", "df", "variance"):
            assert getattr(meta.summary, name) == getattr(meta.given_seeds, name)
    if m == 1:
        assert meta.summary.variance == pytest.approx(meta.given_seeds.variance + record.variance, rel=1e-9)
        assert record.variance == pytest.approx(0.01, rel=1e-9) and (record.seeds, record.df) == (3, 2)
        assert record.sd == pytest.approx(0.1, rel=1e-9)
    total = np.diag([result.observed.parts[0].variance for result in found.tasks.values()])
    assert np.diag(found.synthesis.dependence.covariance) == pytest.approx(
        np.diag(total), rel=0.05
    )  # seed variance is clipped in each alone
    assert found.synthesis.dependence.covariance[0, 1] > 0 == given.synthesis.dependence.covariance[0, 1]
    for task, result in found.tasks.items():
        before = given.tasks[task]
        assert result.interval.ci_high - result.interval.ci_low > before.interval.ci_high - before.interval.ci_low
        assert result.t_test.t == pytest.approx(result.effect.estimate / math.sqrt(result.observed.parts[0].variance))
        assert result.t_test.p_value == result.interval.p_value > before.t_test.p_value


def test_a_standardised_effect_has_seed_variance_in_its_own_units():
    sources = {"treatment": SeedsOf(OWN, "t")}
    plain = compared(pairs(m=4), Settings(**BASE, seed_sources=sources))
    settings = Settings(**(BASE | {"effect": "SMD"}), seed_sources=sources)
    standardised = compared(pairs(m=4), settings)
    for task in plain.tasks:
        md, smd = plain.tasks[task], standardised.tasks[task]
        per_unit = smd.effect.estimate / md.effect.estimate
        (part,), (expected,) = smd.observed.seeds, md.observed.seeds
        assert part.variance == pytest.approx(expected.variance * per_unit**2, rel=1e-6)
        assert smd.t_test == md.t_test  # of the difference itself


def test_checkpoints_that_both_rank_with_cancel():
    """Both systems have the same seed effects: those of the difference are 0."""
    seed_effect = np.array([-0.2, 0.0, 0.2])
    both = {
        task: (scores(c.values.to_numpy() + seed_effect), scores(t.values.to_numpy() + seed_effect))
        for task, (c, t) in pairs().items()
    }
    settings = Settings(**BASE, seed_sources={DIFFERENCE: SeedsOf(OWN, "t - c")})
    found = compared(both, settings)
    assert dependence_record(found, settings)["seeds"][DIFFERENCE].spread.variance == pytest.approx(0, abs=1e-20)


def test_unknown_seeds_are_said():
    settings = Settings(**BASE, seed_sources={"control": SeedsOf(UNKNOWN)})
    assert unknown_seeds(settings) == [
        "c was trained once, and the experiment does not show what other seeds would give: intervals are conditional on "
        "this seed and too narrow"
    ]
    assert unknown_seeds(replace(settings, seeds="conditional")) == []
    assert compared(pairs(), settings).synthesis.meta.given_seeds is None


def test_tasks_of_one_corpus_that_share_queries_count_less():
    same = pairs(k=2)
    base = same["t0"][1].values.to_numpy()
    same["t1"] = same["t0"][0], scores(base + np.random.default_rng(1).normal(0.01, 0.05, base.shape))
    settings = Settings(**BASE, corpora={"t0": "c", "t1": "c"})
    found, apart = (
        compared(same, settings),
        compared(same, Settings(**BASE, corpora={"t0": "c", "t1": "c"}, dependence="independent")),
    )
    matrix = np.array(dependence_record(found, settings)["covariance"].matrix)
    d = np.stack([t.values.to_numpy().ravel() - c.values.to_numpy().ravel() for c, t in same.values()])
    assert matrix == pytest.approx(np.cov(d) / 40, rel=1e-10)
    assert found.synthesis.meta.summary.se > 1.2 * apart.synthesis.meta.summary.se
    other = compared(
        same, Settings(**(BASE | {"estimator": "DL", "interval": "robust"}), corpora={"t0": "c", "t1": "c"})
    )
    assert [warning.split(" is ")[0] for warning in other.synthesis.warnings[-2:]] == ["DL", "robust"]
    assert (other.synthesis.meta.estimator, other.synthesis.meta.interval) == ("REML", "knapp-hartung")


def test_clusters_change_variance_t_and_flips():
    """Pairs of equal queries: everything is as with half of the queries."""
    x, y = np.random.default_rng(2).normal(0.1, 0.2, (2, 12))
    twice = {"t": (scores(np.repeat(y, 2)), scores(np.repeat(x, 2)))}
    clusters = {"t": {f"q{j}": str(j // 2) for j in range(24)}}
    settings = Settings(**BASE, cluster_files={"t": "file"})
    result = compared(twice, settings, DependenceData(clusters=clusters)).tasks["t"]
    half = compared({"t": (scores(y), scores(x))}, Settings(**BASE)).tasks["t"]
    assert result.effect.variance == pytest.approx(half.effect.variance, rel=1e-12)
    assert result.t_test.p_value == pytest.approx(stats.ttest_rel(x, y).pvalue, rel=1e-10)
    assert result.interval.ci_low == pytest.approx(half.interval.ci_low, rel=1e-10)
    assert result.randomisation.p_value == half.randomisation.p_value
    assert (result.observed.clusters, result.t_test.df) == (12, pytest.approx(11))


@pytest.mark.parametrize("kind", ["bca", "bootstrap-t", "randomisation"])
def test_intervals_by_resampling_draw_clusters_and_take_seeds_as_given(kind):
    x, y = np.random.default_rng(2).normal(0.1, 0.2, (2, 12))
    settings = {**BASE, "task_interval": kind, "own": {"resamples": 199}, "permutations": 5000}
    twice = {"t": (scores(np.repeat(y, 2)), scores(np.repeat(x, 2)))}
    clusters = DependenceData(clusters={"t": {f"q{j}": str(j // 2) for j in range(24)}})
    found = compared(twice, Settings(**settings, cluster_files={"t": "file"}), clusters).tasks["t"].interval
    half = compared({"t": (scores(y), scores(x))}, Settings(**settings)).tasks["t"].interval
    assert (found.ci_low, found.ci_high) == pytest.approx((half.ci_low, half.ci_high), rel=1e-9)
    with_seeds = compared(pairs(k=2, m=3), Settings(**settings, seed_sources={"treatment": SeedsOf(OWN, "t")}))
    assert with_seeds.tasks["t0"].warnings == (f"its {kind} interval takes the seeds as given",)


def test_a_task_of_one_cluster_has_no_variance():
    settings = Settings(**BASE, cluster_files={"t0": "file"})
    clusters = {"t0": {f"q{j}": "all" for j in range(40)}}
    found = compared(pairs(k=2), settings, DependenceData(clusters=clusters))
    assert found.tasks["t0"].effect.undefined == "all its queries are one cluster"
    assert found.synthesis.meta.k == 1 and found.tasks["t0"].t_test.p_value is None


def test_three_levels_where_tasks_lie_in_three_collections():
    corpora = {f"t{i}": f"c{i // 2}" for i in range(6)}
    apart = {  # queries of their own
        task: tuple(scores(part.values.to_numpy(), f"{task}-") for part in pair) for task, pair in pairs(k=6).items()
    }
    found = compared(apart, Settings(**BASE, corpora=corpora))
    meta = found.synthesis.meta
    assert len(meta.tau2_levels) == 2 and meta.tau2_ci is None and meta.summary.df <= 2
    assert found.synthesis.leave_one_out["t0"].k == 5


def test_the_interval_of_the_sd_between_seeds():
    """R: sqrt(9 * 0.02^2 / qchisq(c(.975, .025), 9))."""
    assert sd_interval(0.02, 9, 0.05) == pytest.approx((0.01375670413498, 0.0365122036503915), rel=1e-9)


def test_a_mean_of_seeds_beside_a_selected_one_is_said():
    assert mixed_estimands("t", {"a": ["1", "2"], "b": ["selected"]}) == [
        "t: the mean of 2 seeds on a, but on b the seed that was the best on its selection task: the summary combines two "
        "quantities"
    ]
    assert not mixed_estimands("t", {"a": ["1", "2"], "b": ["1", "2"]})


def metrics(folder: Path, task: str, system: str, seed: int, values: np.ndarray) -> Path:
    path = folder / "metrics" / task / system / f"seed-{seed}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({"query_id": [f"q{j}" for j in range(len(values))], "RR": values}).to_csv(path, sep="\t", index=False)
    return path


def script(folder: Path, **changes: object) -> dict:
    g = np.random.default_rng(3)
    files: dict[str, list[Path]] = {"control": [], "treatment": [], "siblings": []}
    for task in ("a", "b"):
        control = g.normal(0.4, 0.1, 30)
        files["control"].append(metrics(folder, task, "c", 0, control))
        files["treatment"].append(metrics(folder, task, "t", 1, control + g.normal(0.05, 0.1, 30)))
        files["siblings"] += [metrics(folder, task, "s", seed, control + 0.01 * seed) for seed in (1, 2, 3)]
    qrels = folder / "qrels"
    qrels.write_text("".join(f"q{j} 0 d{j // 2} 1\n" for j in range(30)))
    (folder / "clusters.tsv").write_text("".join(f"q{j}\tk{j // 3}\n" for j in range(30)))
    settings = BASE | {"corpora": {"a": "x", "b": "x"}, "qrels": {"a": str(qrels), "b": str(qrels)},
                       "seed_sources": {"treatment": {"status": "borrowed", "system": "s"}}} | changes  # fmt: skip
    call(compare, settings, **files, effects=folder / "c.tsv", meta=folder / "c.json")
    return json.loads((folder / "c.json").read_text())


def test_the_script_reads_judgements_clusters_and_siblings(tmp_path):
    meta = script(tmp_path, cluster_files={"a": str(tmp_path / "clusters.tsv")})
    assert meta["clusters"] == {"a": 10, "b": 15}
    assert meta["seeds"]["treatment"]["seeds"] == 3 and meta["seeds"]["treatment"]["sd"] == pytest.approx(0.01)
    assert meta["given_seeds"]["ci_high"] <= meta["summary"]["ci_high"] and meta["collections"] == {"a": 0, "b": 0}


def test_a_wrong_file_of_clusters_is_one_line(tmp_path):
    (tmp_path / "wrong.tsv").write_text("q0\tk0\nq1 k1\n")
    with refused(start=f"{tmp_path}/wrong.tsv:2: expected a query id, a tab and the name of its cluster"):
        script(tmp_path, cluster_files={"a": str(tmp_path / "wrong.tsv")})
