"""The tables of a judge: the matrix, kappa, the order of systems and the bias of each pair, from files."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ranktrial.ir.trec import write_qrels
from scripts.reports.judge_tables import write_judge
from tests.support.calling import call

QUERIES = [f"q{number}" for number in range(12)]
SYSTEMS = ("a", "b", "c")


def metrics(folder, task, system, values, seed=0):
    path = folder / "metrics" / task / system / f"seed-{seed}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({"query_id": list(values), "nDCG@10": list(values.values())}).to_csv(path, sep="\t", index=False)
    return path


@pytest.fixture
def files(tmp_path):
    generator = np.random.default_rng(1)
    human = {query: {"d1": int(generator.integers(0, 2)), "d2": int(generator.integers(0, 2))} for query in QUERIES}
    model = {query: {"d1": 3 * grades["d1"], "d3": 2} for query, grades in human.items()}
    unjudged = {query: grades | {"d3": -1} for query, grades in human.items()}  # which counts as no judgement
    write_qrels(tmp_path / "human.qrels", unjudged)
    write_qrels(tmp_path / "model.qrels", model | {"further": {"d1": 1}})
    values = {system: dict(zip(QUERIES, generator.random(12), strict=True)) for system in SYSTEMS}
    on_human = [metrics(tmp_path, "h", system, values[system]) for system in SYSTEMS]
    shifted = {"a": 0.0, "b": 0.1, "c": 0.3}
    on_model = [
        metrics(
            tmp_path, "m", system, {query: value + shifted[system] for query, value in of.items()} | {"further": 0.9}
        )
        for system, of in values.items()
    ]
    timing = {"model": "words", "queries": 13, "documents": 25, "unreadable": 2, "cost": 0.5}
    (tmp_path / "timing.json").write_text(json.dumps(timing))
    return tmp_path, on_human, on_model, values


def table(files, **settings):
    folder, on_human, on_model, _ = files
    paths = {"human": folder / "human.qrels", "model": folder / "model.qrels", "timing": folder / "timing.json",
             "human_metrics": on_human, "model_metrics": on_model, "page": folder / "j.md", "table": folder / "j.tsv"}  # fmt: skip
    call(write_judge, {"measures": ["nDCG@10"]} | settings, **paths)
    return pd.read_csv(folder / "j.tsv", sep="\t"), (folder / "j.md").read_text()


def test_agreement_is_over_the_documents_that_both_judged(files):
    rows, page = table(files)
    matrix = rows[rows["kind"] == "confusion"].set_index(["first", "second"])["value"]
    assert matrix.sum() == 12 and matrix[("0", "3")] == matrix[("1", "0")] == 0
    kappas = rows[rows["kind"].str.startswith("kappa")].set_index("kind")["value"]
    assert list(kappas.index) == ["kappa of relevance"] and kappas["kappa of relevance"] == pytest.approx(1)
    assert "words judged 25 documents of 13 queries, cost 0.5. 2 answers contained no grade" in page
    assert "| human grade | model 0 | model 3 |" in page


def test_kappa_of_grades_is_given_where_humans_grade(files):
    folder, *_ = files
    write_qrels(folder / "human.qrels", {"q0": {"d1": 2, "d3": 0}, "q1": {"d1": 1, "d3": 2}})
    write_qrels(folder / "model.qrels", {"q0": {"d1": 3, "d3": 0}, "q1": {"d1": 1, "d3": 2}})
    rows, page = table(files)
    assert rows.set_index("kind").loc["kappa of grades", "value"] == pytest.approx((3 / 4 - 1 / 4) / (1 - 1 / 4))
    assert "Cohen's kappa of grades" in page


def test_the_bias_of_each_pair_has_its_t_interval_and_systems_their_order(files):
    rows, page = table(files)
    _, _, _, values = files
    biases = rows[rows["kind"] == "bias"].set_index(["first", "second"])
    assert list(biases.index) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert biases["value"].tolist() == pytest.approx([-0.1, -0.3, -0.2]) and set(biases["n"]) == {12}
    human = {system: list(of.values()) for system, of in values.items()}
    assert biases["human"].iloc[0] == pytest.approx(np.mean(human["a"]) - np.mean(human["b"]))
    means = [np.mean(human[system]) for system in SYSTEMS]
    tau = stats.kendalltau(means, [mean + by for mean, by in zip(means, (0, 0.1, 0.3), strict=True)]).statistic
    assert rows[rows["kind"] == "tau"]["value"].iloc[0] == pytest.approx(tau)
    assert "nDCG@10: Kendall's tau" in page


def test_where_holes_are_filled_no_document_was_judged_by_both(files):
    rows, page = table(files, holes=True)
    assert set(rows["kind"]) == {"tau", "bias"} and "no document was judged by both" in page
