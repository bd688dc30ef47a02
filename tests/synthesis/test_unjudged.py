"""What unjudged documents could change of a comparison, against pytrec_eval with changed judgements and runs."""

import random
from dataclasses import replace

import numpy as np
import pytest
import pytrec_eval

from ranktrial.common.keys import given
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import write_qrels, write_run
from ranktrial.records.comparison import UnjudgedCase, UnjudgedRecord
from ranktrial.reports.comparison.sentence import cases_tables, unjudged_remark
from ranktrial.statistics.summaries import Summary
from ranktrial.synthesis.all_comparisons import Settings as TableSettings
from ranktrial.synthesis.all_comparisons import comparisons as table
from ranktrial.synthesis.comparing import DependenceData, Settings
from ranktrial.synthesis.metrics_files import paired, read_scores
from ranktrial.synthesis.unjudged import readers, unjudged_record
from tests.reports.test_sentence import MINUS, SUMMARY, found, plot_of

DOCUMENTS = [f"d{number}" for number in range(20)]
QUERIES = [f"q{number}" for number in range(30)]


class Case:
    """Two systems on two tasks, which judge half of the documents; task b scores the runs of task a by P@5."""

    def __init__(self, folder, treatment_seeds=1, judged=10):
        rng, self.folder, self.seeds = random.Random(1), folder, {"c": 1, "t": treatment_seeds}
        draw = lambda: {query: {one: rng.randrange(3) for one in rng.sample(DOCUMENTS, judged)} for query in QUERIES}  # noqa: E731
        self.qrels = {"a": draw(), "b": draw()}
        of_seeds = [(system, seed) for system, count in self.seeds.items() for seed in range(count)]
        ranked = lambda: {query: {one: rng.random() for one in rng.sample(DOCUMENTS, 12)} for query in QUERIES}  # noqa: E731
        self.runs = {of_seed: ranked() for of_seed in of_seeds}
        for (system, seed), run in self.runs.items():
            (folder / f"runs/a/{system}").mkdir(parents=True, exist_ok=True)
            write_run(folder / f"runs/a/{system}/seed-{seed}.trec.gz", run, "tag")
            for task, qrels in self.qrels.items():
                path = folder / f"metrics/{task}/{system}/seed-{seed}.tsv"
                path.parent.mkdir(parents=True, exist_ok=True)
                evaluate(run, qrels, ["P@5"]).to_csv(path, sep="\t")
                write_qrels(folder / f"{task}.qrels", qrels)
        files = {task: str(folder / f"{task}.qrels") for task in "ab"}
        self.settings = Settings(
            control="c", treatment="t", measure="P@5", qrels=files, runs_on={"b": "a"}, clusters="query"
        )

    def record(self):
        pairs = {}
        for task in "ab":
            files = [sorted((self.folder / f"metrics/{task}/{system}").iterdir()) for system in "ct"]
            pairs[task] = paired(*(read_scores(of_system, "P@5") for of_system in files), task)[:2]
        runs = sorted(self.folder.rglob("*.trec.gz"))
        found, self.absent, self.short = unjudged_record(
            pairs, readers(runs), self.qrels, self.settings, DependenceData()
        )
        return found

    def differences(self, filled=lambda grades: grades, kept=lambda run, qrels: run):
        """Treatment minus control by task and query, by pytrec_eval with other judgements and other runs."""
        found = {}
        for task, qrels in self.qrels.items():
            scorer = pytrec_eval.RelevanceEvaluator({query: filled(grades) for query, grades in qrels.items()}, {"P.5"})
            values = {of_seed: scorer.evaluate(kept(run, qrels)) for of_seed, run in self.runs.items()}
            found[task] = np.array([
                sum((1 if system == "t" else -1) * of_run[query]["P_5"] / self.seeds[system]
                    for (system, _), of_run in values.items())
                for query in qrels
            ])  # fmt: skip
        return found

    def gains(self, task):
        """What each unjudged document would add to the difference, by query."""
        gains = {query: {} for query in QUERIES}
        for (system, _), run in self.runs.items():
            for query, scores in run.items():
                for one in sorted(scores, key=scores.get, reverse=True)[:5]:
                    if one not in self.qrels[task][query]:
                        sign = 1 if system == "t" else -1
                        gains[query][one] = gains[query].get(one, 0) + sign / self.seeds[system] / 5
        return gains


def mean_of(differences):
    return np.mean([of_task.mean() for of_task in differences.values()])


def test_all_relevant_and_condensed_lists_are_those_of_pytrec_eval(tmp_path):
    case = Case(tmp_path, treatment_seeds=2)
    record = case.record()
    fill = lambda grades: dict.fromkeys(DOCUMENTS, 2) | grades  # noqa: E731
    keep = lambda run, qrels: {q: {d: s for d, s in run[q].items() if d in qrels[q]} for q in qrels}  # noqa: E731
    all_relevant, condensed = case.differences(fill), case.differences(kept=keep)
    assert record.cases["all"].fixed_mean.effect == pytest.approx(mean_of(all_relevant), abs=1e-12)
    assert record.cases["condensed"].fixed_mean.effect == pytest.approx(mean_of(condensed), abs=1e-12)
    assert record.cases["lowest"].fixed_mean.effect < mean_of(case.differences())
    assert record.number == {task: np.mean([len(of_query) for of_query in case.gains(task).values()]) for task in "ab"}


def test_the_bounds_of_precision_hold_each_unjudged_document_that_lowers_or_raises_it(tmp_path):
    case = Case(tmp_path)
    as_judged, cases = case.differences(), case.record().cases
    for name, holds in (("lowest", min), ("highest", max)):
        bounds = {
            task: as_judged[task]
            + [sum(holds(gain, 0) for gain in of_query.values()) for of_query in case.gains(task).values()]
            for task in "ab"
        }
        assert cases[name].fixed_mean.effect == pytest.approx(mean_of(bounds), abs=1e-12)
        spread = np.mean([of_task.var(ddof=1) / len(QUERIES) for of_task in bounds.values()]) / 2
        assert cases[name].fixed_mean.variance == pytest.approx(spread, rel=1e-6)


def test_nothing_is_said_where_all_is_judged_or_nothing_is_relevant_to_unjudged_documents(tmp_path):
    case = Case(tmp_path, judged=20)
    assert case.record() is None
    case = Case(tmp_path)
    for measure in ("Judged@5", "nDCG(judged_only=True)@5", "Bpref"):
        case.settings = replace(case.settings, measure=measure, measure_on={"b": measure})
        assert case.record() is None
    for measure in (case.settings.measure, "accuracy", "main score"):  # external values may be of any measure
        settings = replace(case.settings, measure=measure)
        assert unjudged_record({}, {}, {}, settings, DependenceData()) == (None, [], [])


def test_measures_of_tasks_have_a_name_together_that_is_no_measure(tmp_path):
    case = Case(tmp_path)
    as_one, measure = case.record(), case.settings.measure
    case.settings = replace(case.settings, measure=f"{measure} and RR@5", measure_on={"a": measure, "b": measure})
    assert case.record() == as_one


def test_an_external_run_that_is_shorter_than_the_measure_counts_is_said(tmp_path):
    case = Case(tmp_path)
    case.record()
    assert case.short == []
    case.settings = replace(case.settings, external=["t"], measure_on={"b": "P@99"})
    case.record()
    depth = max(len(scores) for (system, _), run in case.runs.items() if system == "t" for scores in run.values())
    assert case.short == [f"b: the run of t has at most {depth} documents per query, fewer than P@99 counts"]


def means(effect, p):
    mean = Summary(
        **SUMMARY
        | {
            "variance": 1e-4,
            "log10_p": -1.0,
            "effect": effect,
            "ci_low": effect - 0.02,
            "ci_high": effect + 0.02,
            "p_value": p,
        }
    )
    return UnjudgedCase(mean, mean)


def compared(documents=None, **cases):
    return found(unjudged=given(UnjudgedRecord({"a": 1.0, "b": 2.0}, documents or {"a": 12.0, "b": 14.0}, cases)))


def test_a_sentence_and_a_table_say_where_the_answer_depends_on_unjudged_documents():
    one = compared(
        lowest=means(-0.05, 1e-4), highest=means(0.09, 1e-6), all=means(0.01, 0.4), condensed=means(0.04, 1e-3)
    )
    meta, plot = one.meta, plot_of(one)
    assert unjudged_remark(meta, plot) == (
        "Of the documents in the top ten of either system, 88% are judged; the others count as not relevant. "
        f"The answer depends on them: the mean difference is {MINUS}0.050 (95% CI {MINUS}0.070 to {MINUS}0.030; p < 0.001 without correction) if they are "
        f"judged least favourably for Tuned & Co, 0.010 (95% CI {MINUS}0.010 to 0.030; p = 0.400 without correction) if all are "
        "relevant."
    )
    (found,) = cases_tables(meta, plot)
    assert [row[0] for row in found.blocks[0]] == [
        "Not relevant (as judged)", "Least favourable to Tuned & Co", "Most favourable to Tuned & Co", "All relevant",
        "Removed (condensed lists)",
    ]  # fmt: skip
    assert found.blocks[0][3][1:] == [f"0.010 [{MINUS}0.010, 0.030]", "0.400"] * 2
    row = table({"c": meta}, TableSettings()).iloc[0]
    assert (row["unjudged"], row["lowest_ci_low"], row["condensed_effect"]) == pytest.approx((1.5, -0.07, 0.04))


def test_an_answer_that_holds_in_all_cases_needs_no_sentence():
    one = compared(lowest=means(0.03, 1e-4), highest=means(0.09, 1e-6), all=means(0.02, 0.01))
    for same in (one, found()):
        assert unjudged_remark(same.meta, plot_of(same)) == "" and cases_tables(same.meta, plot_of(same)) == []


def test_where_few_documents_are_judged_only_condensed_lists_are_named():
    few = {"a": 1.2, "b": 2.2}  # of 1.0 and 2.0 that are unjudged
    lowest, highest = means(-0.05, 1e-4), means(0.09, 1e-6)
    one = compared(few, lowest=lowest, highest=highest, condensed=means(-0.04, 1e-3))
    said = unjudged_remark(one.meta, plot_of(one))
    assert "12% are judged; the others count as not relevant. With so few, extreme assumptions" in said
    assert "allow any answer. Without unjudged documents (condensed lists)" in said
    assert f"the mean difference is {MINUS}0.040" in said and "least favourably" not in said
    extremes = compared(few, lowest=lowest, highest=highest)
    assert unjudged_remark(extremes.meta, plot_of(extremes)).endswith("allow any answer.")
    for same in (means(0.03, 1e-4), means(-0.01, 0.3)):  # the lowest case has not the opposite answer of the highest
        one = compared(few, lowest=same, highest=highest, all=means(0.01, 0.4))
        text = unjudged_remark(one.meta, plot_of(one))
        assert "any answer" not in text and "p = 0.400 without correction) if all are relevant." in text


def test_condensed_lists_are_cut_to_the_depth_of_the_shallower_system(tmp_path):
    case = Case(tmp_path)
    of_treatment = case.runs["t", 0]
    first = {query: dict(sorted(scores.items(), key=lambda one: -one[1])[:6]) for query, scores in of_treatment.items()}
    case.runs["t", 0] = first
    write_run(tmp_path / "runs/a/t/seed-0.trec.gz", first, "tag")

    def keep(run, qrels):
        best = {query: sorted(run[query].items(), key=lambda one: -one[1])[:6] for query in qrels}
        return {query: {one: score for one, score in best[query] if one in qrels[query]} for query in qrels}

    expected = mean_of(case.differences(kept=keep))
    assert case.record().cases["condensed"].fixed_mean.effect == pytest.approx(expected, abs=1e-12)


def test_judged_queries_that_a_run_lacks_are_reported(tmp_path):
    case = Case(tmp_path)
    case.record()
    assert case.absent == []
    write_run(tmp_path / "runs/a/t/seed-0.trec.gz", {query: case.runs["t", 0][query] for query in QUERIES[4:]}, "tag")
    case.record()
    assert case.absent == [f"{task}: 4 of 30 judged queries are not in the run of t and score 0" for task in "ab"]
