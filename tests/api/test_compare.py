"""What the library takes and refuses: tables, arrays, runs, printed effects; and what it draws and writes."""

import inspect
import io
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ranktrial as rt
from ranktrial.api.methods import ARGUMENTS
from ranktrial.reports.comparison.notes import notes
from ranktrial.statistics.bayes import bayesian_summary
from ranktrial.statistics.independent_tasks import meta_analysis
from tests.explorer.crafted_experiment import unpacked
from tests.support.one_line import refused

FAST = {"permutations": 100}


def frame(systems=("base", "better"), tasks=2, queries=12, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            {"task": f"t{task}", "query": f"q{task}.{query}", "system": system, "value": round(rng.random(), 3)}
            for task in range(tasks)
            for query in range(queries)
            for system in systems
        ]
    )


def linked_files(page):
    """The files beside a page to which it links."""
    return {link.partition("#")[0] for link in re.findall(r'href="(?!#|data:)([^"]+)"', page)}


def same(first, second):
    assert json.dumps(first.numbers()) == json.dumps(second.numbers())


def test_the_effect_of_one_task_is_that_of_a_paired_t_test():
    table = frame(tasks=1)
    found = rt.compare(table, **FAST)
    wide = table.pivot(index="query", columns="system", values="value")
    tested = stats.ttest_rel(wide["better"], wide["base"])
    row = found.effects.iloc[0]
    assert row["effect"] == pytest.approx((wide["better"] - wide["base"]).mean(), rel=1e-12)
    assert row["p_value"] == pytest.approx(tested.pvalue, rel=1e-9)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(tested.confidence_interval()), rel=1e-9)


BETTER = FAST | {"control": "base", "treatment": "better"}


def meta_of(found):
    return next(iter(found.comparisons.values())).meta


def of_seeds(tasks=4):
    """Values of a system with three seeds, whose effects all tasks share, and of one without."""
    rng = np.random.default_rng(3)
    shared = {"1": -0.1, "2": 0, "3": 0.1}
    return pd.DataFrame(
        {"task": f"t{task}", "query": query, "system": system, "seed": seed, "value": 0.5 + by + rng.normal(0, 0.02)}
        for task in range(tasks)
        for system, seeds in (("base", {"0": 0}), ("better", shared))
        for seed, by in seeds.items()
        for query in range(20)
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_is_the_same_training_on_all_tasks_in_whatever_order_its_rows_stand(seed):
    table = of_seeds()
    expected = rt.compare(table, **BETTER)
    shuffled = pd.concat(
        [own.sample(frac=1, random_state=seed + place) for place, (_, own) in enumerate(table.groupby("task"))]
    )
    arrays = {}
    for place, (task, own) in enumerate(table.groupby("task")):
        wide = {name: of.pivot(index="query", columns="seed", values="value") for name, of in own.groupby("system")}
        turned = np.roll(wide["better"].columns, place + seed)
        arrays[task] = wide["base"], wide["better"][turned]
    for found in (rt.compare(shuffled, **BETTER), rt.compare(arrays, **BETTER)):
        for name in ("effect", "ci_low", "ci_high", "p_value", "seeds_variance"):
            assert found.effects[name].tolist() == pytest.approx(expected.effects[name].tolist(), rel=1e-9)
        for mean in ("fixed_mean", "summary"):
            of, its = (vars(getattr(meta_of(one), mean)) for one in (found, expected))
            assert [of[key] for key in ("effect", "ci_low", "ci_high", "p_value")] == pytest.approx(
                [its[key] for key in ("effect", "ci_low", "ci_high", "p_value")], rel=1e-9
            )


def test_seeds_of_other_names_are_other_trainings_and_may_not_be_the_same_in_part():
    table = of_seeds()
    trained = table["system"] == "better"
    apart = table.assign(seed=table["seed"].where(~trained, table["task"] + table["seed"]))
    together, separate = (meta_of(rt.compare(one, **BETTER)).fixed_mean for one in (table, apart))
    assert separate.effect == pytest.approx(together.effect) and separate.ci_high < together.ci_high - 0.02
    changed = table.assign(
        seed=table["seed"].where(~trained | (table["task"] != "t1"), table["seed"].replace("3", "4"))
    )
    with refused("task t0: better has the seeds 1, 2, 3, and 1, 2, 4 on t1; expected the same on both, or none"):
        rt.compare(changed, **BETTER)


@pytest.mark.parametrize(
    "other",
    [
        lambda long: long.rename(columns={"query": "qid", "system": "name", "task": "dataset"}),  # PyTerrier's
        lambda long: long.rename(columns={"query": "sample_id", "system": "model", "value": "score"}),
        lambda long: long.assign(measure="score"),
        lambda long: long.set_index(["task", "query"]),
        lambda long: long.pivot_table(index=["task", "query"], columns="system", values="value", sort=False).reset_index(),
    ],
    ids=["PyTerrier", "samples", "measure", "index", "wide"],
)  # fmt: skip
def test_tables_that_say_the_same_give_the_same(other):
    long = frame()
    same(rt.compare(long, **FAST), rt.compare(other(long), measure="score", **FAST))


def test_arrays_series_and_mappings_are_paired():
    wide = {task: rows.pivot(index="query", columns="system", values="value") for task, rows in frame().groupby("task")}
    arrays = {task: (table["base"].to_numpy(), table["better"].to_numpy()) for task, table in wide.items()}
    shuffled = {task: (table["base"], table["better"].sample(frac=1, random_state=1)) for task, table in wide.items()}
    mappings = {task: (one.to_dict(), other.to_dict()) for task, (one, other) in shuffled.items()}
    found = rt.compare(arrays, control="base", treatment="better", **FAST)
    for other in (shuffled, mappings):
        again = rt.compare(other, control="base", treatment="better", **FAST)
        assert again.effects["effect"].tolist() == pytest.approx(found.effects["effect"].tolist(), rel=1e-12)
    assert "of better exceeds" in found.sentence() or "of better is below" in found.sentence()
    several = {task: (np.column_stack([one, one]), other) for task, (one, other) in arrays.items()}
    assert rt.compare(several, **FAST).effects["control_seeds"].tolist() == [2, 2]


def test_the_control_is_named_or_the_first_or_the_one_that_is_called_so():
    table = frame(("dense", "BM25"))
    for given, control in (({}, "BM25"), ({"control": "dense"}, "dense"), ({"treatment": "dense"}, "BM25")):
        (found,) = rt.compare(table, **given, **FAST).comparisons.values()
        assert found.meta.control == control
    (found,) = rt.compare(frame(("a", "b")), **FAST).comparisons.values()
    assert (found.meta.control, found.meta.treatment) == ("a", "b")


def test_all_pairs_have_letters_ranks_and_a_diagram_and_a_control_has_a_forest_plot(tmp_path):
    table = frame(("a", "b", "c"))
    pairs, against = rt.compare(table), rt.compare(table, control="b", **FAST)
    assert not pairs.comparisons and len(pairs.differences) == 9 and pairs.family.record.against is None
    assert all(one.sign and one.ranks for one in pairs.family.whole.standings)
    assert list(against.comparisons) == ["a-against-b", "c-against-b"] and against.family.record.against == "b"
    assert against.summary["hypotheses"].tolist() == [2, 2]
    with refused("name a control", "diagram"):
        pairs.forest_plot()
    with refused("forest_plot"):
        rt.compare(frame(), **FAST).diagram()
    pairs.diagram(tmp_path / "d.pdf")
    against.forest_plot(tmp_path / "f.png", width="single column", title="Two of three")
    assert (tmp_path / "d.pdf").read_bytes().startswith(b"%PDF") and (tmp_path / "f.png").stat().st_size > 5000
    for found in (pairs, against):
        found.report(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text()
        assert found.sentence().split("\n\n")[-1].split(". It ")[0].split(" (")[0] in page
        assert linked_files(page) == ({"r-explorer/index.html"} if found.comparisons else set())
    assert (tmp_path / "r-explorer/index.html").exists()
    assert [name for name in ("a", "c") if f"{name} against b" in (tmp_path / "r.html").read_text()] == ["a", "c"]
    rt.compare(frame(), **FAST).report(tmp_path / "r.html")
    assert "> better-against-base<" not in (tmp_path / "r.html").read_text(), "no derived name beside the only heading"


@pytest.mark.parametrize(("effect", "tested"), [("CORR", False), ("SMD", True), ("MD", True)])
def test_systems_are_tested_together_only_by_an_effect_that_is_a_difference(effect, tested, tmp_path):
    found = rt.compare(frame(("a", "b", "gold")), control="gold", effect=effect, **FAST)
    assert (found.family is not None) is tested and ("max-T test" in found.sentence()) is tested
    found.report(tmp_path / "r.html")
    assert ("simultaneous" in (tmp_path / "r.html").read_text()) is tested


@pytest.mark.parametrize("key", [{"effect": "CORR"}, {"margin": 0.1}, {"clusters": {"t0": {"q0.1": "c"}}}])
def test_keys_that_all_pairs_do_not_have_are_refused(key):
    table = frame(("a", "b", "c"))
    with refused(f"{next(iter(key))}: not used to compare all pairs of systems; name a control"):
        rt.compare(table, **key)
    assert rt.compare(table, alpha=0.1).family.record.alpha == 0.1


@pytest.mark.parametrize(
    "trainings",
    [
        {("t0", "base"): 1, ("t1", "base"): 1, ("t0", "better"): 3, ("t1", "better"): 3},
        {("t0", "base"): 2, ("t1", "base"): 2, ("t0", "better"): 3, ("t1", "better"): 1},
    ],
)
def test_a_file_has_the_seeds_of_each_system_on_each_task(trainings, tmp_path):
    parts = []
    for (task, system), seeds in trainings.items():
        table = frame(seed=seeds).set_index(["task", "system"]).loc[[(task, system)]].reset_index()
        parts += [table.assign(seed=f"{system}-{seed}", value=table["value"] + seed / 100) for seed in range(seeds)]
    table = pd.concat(parts)
    table.to_csv(tmp_path / "long.csv", index=False)
    same(rt.compare(rt.read(tmp_path / "long.csv"), measure="score", **FAST), rt.compare(table, **FAST))


def test_a_folder_has_everything_that_its_page_links_to(tmp_path):
    files = rt.compare(frame(("a", "b", "c")), control="a", **FAST).write(tmp_path / "out")
    page = (tmp_path / "out/report.html").read_text()
    links = linked_files(page)
    missing = {link for link in links if not (tmp_path / "out" / link).exists()}
    assert len(links) > 5 and "explorer/index.html" in links and not missing and all(file.is_file() for file in files)
    long = pd.read_csv(tmp_path / "out/tables/queries.tsv.gz", sep="\t")
    again = rt.compare(long, control="a", measure="score", **FAST)
    same(again, rt.compare(frame(("a", "b", "c")), control="a", **FAST))


RANKED = {
    "a": {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 1.0}},
    "b": {"q1": {"d2": 3.0}, "q2": {"d3": 9.0, "d2": 1.0}},
}
TEXTS = {"d1": "one", "d2": "two"}


@pytest.mark.parametrize("documents", [TEXTS, {"all": TEXTS}, pd.DataFrame({"docno": list(TEXTS), "text": list(TEXTS.values())})])  # fmt: skip
def test_the_explorer_of_runs_has_the_texts_that_are_given(tmp_path, documents):
    found = rt.compare(RANKED, qrels={"q1": {"d1": 1}, "q2": {"d2": 1}}, **FAST)
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"_id": "q1", "text": "first query"}\n')
    found.report(tmp_path / "a.html", queries=queries, documents=documents)
    data = tmp_path / "a-explorer/data/task-1"
    assert {tuple(one) for one in unpacked(data / "documents-0.js")} == {("d1", "", "one"), ("d2", "", "two"), ("d3",)}
    assert unpacked(data / "queries.js")["texts"] == ["first query", ""]
    assert "first query" in (tmp_path / "a.html").read_text()


def test_what_cannot_be_an_explorer_is_refused(tmp_path):
    found = rt.compare(RANKED, qrels={"q1": {"d1": 1}, "q2": {"d2": 1}}, **FAST)
    (tmp_path / "a-explorer").mkdir()
    for texts, said in (({}, "a-explorer: is there and is no explorer"), ({"queries": 5}, "queries: expected a file"),
                        ({"documents": {"t": TEXTS}}, "documents: no task 't'"), ({"documents": "no"}, "documents: no: no such file"),
                        ({"documents": pd.DataFrame({"docno": ["d1"]})}, "documents: no column text")):  # fmt: skip
        with refused(said):
            found.report(tmp_path / "a.html", **texts)
    assert not (tmp_path / "a.html").exists() and not [*(tmp_path / "a-explorer").iterdir()]


def test_printed_effects_are_those_of_a_meta_analysis():
    effects = pd.DataFrame(
        {"task": list("abcde"), "yi": [0.03, -0.01, 0.05, 0.02, 0.08], "vi": [1e-4, 4e-4, 2e-4, 9e-4, 3e-4]}
    )
    found = rt.compare(effects, control="BM25", treatment="dense", measure="nDCG@10", estimator="DL", interval="normal")
    expected = meta_analysis(effects["yi"], effects["vi"], "DL", "normal")
    (one,) = found.comparisons.values()
    assert one.meta.summary == expected.summary and one.meta.meta.tau2 == expected.tau2
    half = stats.norm.ppf(0.975) * np.sqrt(effects["vi"])
    assert found.effects["ci_high"].tolist() == pytest.approx((effects["yi"] + half).tolist(), rel=1e-12)
    fixed = one.meta.fixed_mean
    assert (fixed.effect, fixed.variance) == pytest.approx((effects["yi"].mean(), effects["vi"].sum() / 25), rel=1e-12)
    assert "mean nDCG@10 of dense exceeds that of BM25 by 0.034" in found.sentence()
    assert "95% intervals: tasks normal; mean of these tasks normal; " in " ".join(notes(found.plot(), True))
    text = found.table()
    assert "nan" not in text.lower() and "None" not in text and "| n |" not in text


@pytest.mark.parametrize("lower_is_better", [False, True])
@pytest.mark.parametrize("k", [1, 5])
def test_printed_effects_are_tested_against_a_margin_where_their_interval_is(k, lower_is_better):
    """Equivalent at alpha are effects whose 1 - 2 alpha interval is within the margin: of tasks and their summary."""
    effects = pd.DataFrame({"task": list("abcde"), "yi": [0.03, -0.01, 0.05, 0.02, 0.08], "vi": [1e-3] * 5})[:k]
    for margin in (0.02, 0.06, 0.1, 0.2):
        given = {"margin": margin, "lower_is_better": lower_is_better}
        found, twice = (rt.compare(effects, alpha=alpha, **given) for alpha in (0.05, 0.1))
        (one,), (other,) = found.comparisons.values(), twice.comparisons.values()
        of_all = one.meta.equivalence.p_equivalence, one.meta.equivalence.p_non_inferiority
        columns = found.effects[["equivalence_p_value", "non_inferiority_p_value"]].itertuples(index=False)
        intervals = twice.effects[["ci_low", "ci_high"]].itertuples(index=False)
        ends = [*intervals, (other.meta.meta.summary.ci_low, other.meta.meta.summary.ci_high)]
        for (p, better), (low, high) in zip([*columns, of_all], ends, strict=True):
            assert (p < 0.05) == (-margin < low and high < margin)
            assert (better < 0.05) == (high < margin if lower_is_better else -margin < low)
        assert f"the margin ±{margin:g}" in " ".join(notes(found.plot(), True))
    with refused("margin", "SMD", "expected effect MD"):
        rt.compare(effects, effect="SMD", margin=0.1)


@pytest.mark.parametrize("times", [1, 10, 100])
@pytest.mark.parametrize("effect", ["MD", "SMD"])
def test_the_bayesian_summary_of_printed_effects_is_on_their_scale(effect, times):
    """In percent it is a hundred times that of fractions; standardised differences have no scale."""
    yi, vi = np.array([0.5, 0.1, 0.9, -0.3, 0.4, 0.7]), 0.01
    effects = pd.DataFrame({"task": list("abcdef"), "yi": times * yi, "vi": times**2 * vi})
    (found,) = rt.compare(effects, effect=effect, bayesian={}).comparisons.values()
    scale = {"MD": 0.1 * times, "SMD": 0.5}[effect]
    assert found.meta.bayesian.tau_scale == pytest.approx(scale)
    expected = bayesian_summary(times * yi, np.diag([times**2 * vi] * 6), scale, 0.05)
    assert (found.meta.bayesian.ci_low, found.meta.bayesian.ci_high) == (expected.ci_low, expected.ci_high)


def test_numbers_are_plain_and_tables_hold_them_to_the_last_digit(tmp_path):
    found = rt.compare(frame(), **FAST)
    numbers = json.loads(json.dumps(found.numbers(), allow_nan=False))
    (name,) = numbers["comparisons"]
    assert numbers["comparisons"][name]["summary"]["effect"] == found.summary["effect"].iloc[0]
    table = pd.read_csv(io.StringIO(found.table(tmp_path / "t.tsv")), sep="\t")
    assert table["effect"].iloc[0] == found.effects["effect"].iloc[0] and (tmp_path / "t.tsv").exists()


BROKEN = {
    "no rows": (lambda table: table.iloc[:0], ("no rows", "task, query, system, value")),
    "no system": (lambda table: table.drop(columns="system"), ("no column of systems", "task, query, value")),
    "no query": (lambda table: table.rename(columns={"query": "z", "task": "y"}), ("no column of queries", "y, z, system")),
    "a text": (lambda table: table.assign(value=table["value"].astype(object).where(table.index != 5, "n/a")),
               ("row 5", "task t0", "system better", "'n/a' is not a finite number")),
    "missing": (lambda table: table.assign(value=table["value"].where(table.index != 5)), ("row 5", "): nan is not a finite")),
    "twice": (lambda table: pd.concat([table, table.iloc[[3]]]), ("row 48", "two values", "seed")),
    "twice, of a measure": (lambda table: pd.concat([table, table.iloc[[3]]]).assign(measure="AP"), ("system better", "two values of AP")),
    "one system": (lambda table: table[table["system"] == "base"], ("only the system base", "at least two")),
    "no task": (lambda table: table.assign(task=table["task"].where(table.index != 7)), ("row 7", "no task")),
    "values": (lambda table: table.assign(other=1.0).rename(columns={"value": "P@1"}), ("P@1, other", 'name one: measure="P@1"')),
    "measures": (lambda table: table.assign(measure=["AP", "RR"] * 24), ("several measures, AP, RR",)),
    "not on all": (lambda table: table[(table["task"] == "t0") | (table["system"] == "base")], ("task t1", "no values of better")),
    "nothing common": (lambda table: table.assign(query=table["query"] + table["system"]), ("task t0", "no sample in common")),
    "percent": (lambda table: table.assign(value=table["value"].where(table["system"] == "base", 100 * table["value"])),
                ("fractions and percentages",)),
    "the same": (lambda table: table.assign(query=table["query"].str[3:], value=table["value"].tolist()[:24] * 2),
                 ("one task under two names",)),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_table_that_cannot_be_compared_is_refused_in_one_line(name):
    change, words = BROKEN[name]
    with refused(*words):
        rt.compare(change(frame()), **FAST)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"control": "bas"}, ("no system 'bas'", "did you mean 'base'?")),
        ({"treatment": "x"}, ("treatment: no system 'x'",)),
        ({"effect": "smdd"}, ("effect: unknown 'smdd'", "SMD")),
        ({"estimator": "ML"}, ("estimator", "REML")),
        ({"alpha": 1.5}, ("alpha: 1.5", "below 1")),
        ({"margin": -1}, ("margin: -1", "above 0")),
        ({"permutation": 9}, ("unknown key 'permutation'", "did you mean 'permutations'?")),
        ({"controls": "base"}, ("unknown key 'controls'", "did you mean 'control'?")),
        ({"ddof": 3}, ("ddof: expected",)),
        ({"measure": "AP"}, ()),
        ({"qrels": {"t9": {"q": {"d": 1}}}}, ("no values of the task t9",)),
        ({"clusters": "gold"}, ("clusters", "gold-document")),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(options, words):
    if not words:
        assert rt.compare(frame(), **FAST, **options).measure == "AP"
        return
    with refused(*words):
        rt.compare(frame(), **(FAST | options))


def test_arrays_effects_runs_and_places_that_do_not_fit_are_refused(tmp_path):
    with refused("task a", "2 values of control and 3 of treatment"):
        rt.compare({"a": ([1, 2], [1, 2, 3])})
    for nothing in ([1, float("nan")], np.ma.array([1, 2], mask=[0, 1]), np.ma.array([[1], [2]], mask=[[0], [1]])):
        with refused("task a, treatment", "query 2", "not a finite number"):
            rt.compare({"a": ([1, 2], nothing)})
    with refused("expected a DataFrame"):
        rt.compare([1, 2])
    for place in ("scores.csv", Path("scores.csv")):
        with refused("expected a DataFrame", "rt.read('scores.csv') reads a file"):
            rt.compare(place)
    assert set(ARGUMENTS) == set(inspect.signature(rt.compare).parameters) - {"data", "statistics"}
    effects = pd.DataFrame({"task": ["a", "b"], "yi": [0.1, 0.2], "vi": [0.1, 0.0]})
    with refused("row 1 (task b)", "a variance above 0"):
        rt.compare(effects)
    with refused("row 1 (task a)", "given twice"):
        rt.compare(effects.assign(task="a", vi=1.0))
    qrels, run = {"q": {"d": 1}}, {"q": {"d": 2.0}}
    with refused("runs: b", "none of its 1 queries", "'r'"):
        rt.evaluate(qrels, {"a": run, "b": {"r": {"d": 1.0}}})
    with refused("runs: a", "no file 'no.run'"):
        rt.evaluate(qrels, {"a": "no.run"})
    with refused("qrels: no column", "doc_id"):
        rt.evaluate(pd.DataFrame({"query_id": ["q"], "x": [1]}), {"a": run})
    with refused("nDCG@1O"):
        rt.evaluate(qrels, {"a": run}, ["nDCG@1O"])
    found = rt.compare(frame(), **FAST)
    with refused(".pdf or .svg or .png"):
        found.forest_plot(tmp_path / "a.jpg")
    with refused("no folder"):
        found.table(tmp_path / "no/a.tex")
    with refused("unknown key 'colour'", "title"):
        found.forest_plot(colour="red")


def test_runs_are_scored_as_trec_eval_does_with_a_warning_for_missing_queries():
    qrels = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "label": [1, 0, 2]})  # PyTerrier's
    run = pd.DataFrame({"qid": ["1", "1"], "docno": ["b", "a"], "score": [2.0, 1.0]})
    with pytest.warns(UserWarning, match="1 of 2 judged queries are not in the run and score 0"):
        table = rt.evaluate(qrels, {"x": run}, ["RR", "P_1"])
    assert table.set_index(["query", "measure"])["value"].to_dict() == {
        ("1", "RR"): 0.5, ("2", "RR"): 0.0, ("1", "P_1"): 0.0, ("2", "P_1"): 0.0}  # fmt: skip


@pytest.mark.parametrize("form", ["file", "table"])
def test_scores_that_rise_with_their_ranks_are_taken_with_a_warning(form, tmp_path):
    """Distances; what trec_eval ranks last is first in their files."""
    run = pd.DataFrame({"qid": ["1", "1", "1"], "docno": ["a", "b", "c"], "rank": [1, 2, 3], "score": [0.1, 0.2, 0.3]})
    lines = [f"{row.qid} Q0 {row.docno} {row.rank} {row.score} t" for row in run.itertuples()]
    (tmp_path / "dist.run").write_text("\n".join(lines) + "\n")
    given = {"file": tmp_path / "dist.run", "table": run}[form]
    with pytest.warns(UserWarning, match=r"its scores rise with its ranks in every query, .* negate the scores"):
        table = rt.evaluate({"1": {"a": 1}}, {"x": given}, ["RR"])
    assert table["value"].tolist() == [pytest.approx(1 / 3)]
    usual = run.assign(score=-run["score"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rt.evaluate({"1": {"a": 1}}, {"x": usual}, ["RR"])["value"].tolist() == [1]


@pytest.mark.parametrize("name", ["all", "Average", "Total"])
def test_a_row_of_means_is_left_out_with_a_warning(name):
    table = frame(tasks=1)
    means = table.groupby("system", as_index=False)["value"].mean().assign(task="t0", query=name)
    with pytest.warns(UserWarning, match=f"left out: the rows {name}: by their name, means over the others"):
        same(rt.compare(pd.concat([table, means]), **FAST), rt.compare(table, **FAST))


def test_planning_is_that_of_the_variances_or_of_assumed_ones(tmp_path):
    rng = np.random.default_rng(5)
    control = {f"t{task}": rng.normal(0.5, 0.1, 100) for task in range(6)}
    pairs = {task: (values, values + rng.normal(0.02, 0.2, 100)) for task, values in control.items()}
    plan = rt.power(rt.compare(pairs, **FAST), effect=0.03)
    assert "To detect 0.03 over tasks" in plan.sentence() and "With 80% power" in plan.sentence()
    alone = plan.table[(plan.table["test"] == "task") & (plan.table["queries"] == 400)].iloc[0]
    assert alone["detectable"] == pytest.approx((1.96 + 0.84) * 0.2 / 20, rel=0.05)
    assumed = rt.power(query_sd=0.2, trained=0, effect=0.03)
    same_design = assumed.table[(assumed.table["test"] == "task") & (assumed.table["queries"] == 400)].iloc[0]
    assert same_design["detectable"] == pytest.approx(alone["detectable"], rel=0.1)
    plan.figure(tmp_path / "plan.svg")
    assert (tmp_path / "plan.svg").stat().st_size > 5000
    for given, words in (
        ({}, "query_sd"),
        ({"query_sd": -1.0}, "above 0"),
        ({"query_sd": 1.0, "queries": [9, 3]}, "ascending"),
    ):
        with refused(words):
            rt.power(**given)
