"""Runs of others under judgements by subtopic and under changed instructions, to their comparisons."""

import json
import random

import pandas as pd
import pytest

from tests.workflow.conftest import REPOSITORY, copy

CONFIG = """
experiment: diverse
measures: [alpha_nDCG@5, StRecall@5, nDCG@5, pMRR, Judged@5]
datasets:
  web: {format: qrels, location: web.qrels, subtopics: true}
  changed: {format: qrels, location: changed.qrels, subtopics: true, changed_from: web}
systems:
  first: {type: external, runs: {web: first.run, changed: first-changed.run}}
  second: {type: external, runs: {web: second.run, changed: second-changed.run}}
tasks: [web, changed]
comparisons:
  diversity: {control: first, treatment: second, tasks: [web], measure: alpha_nDCG@5}
  follows: {control: first, treatment: first, tasks: [web], treatment_on: {web: changed}, measure: pMRR}
  judged: {control: first, treatment: second, tasks: [web], measure: nDCG@5}
explorer: {texts: false}
"""
QUERIES = [str(number) for number in range(12)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Three relevant documents of two subtopics; with the changed instruction the first of them is not relevant."""
    made, rng = copy(REPOSITORY, tmp_path_factory.mktemp("diverse") / "ranktrial"), random.Random(1)
    lines = lambda first: "".join(  # noqa: E731
        f"{query} 1 a {first}\n{query} 1 b 1\n{query} 2 c 1\n{query} 2 d 0\n" for query in QUERIES
    )
    (made.folder / "web.qrels").write_text(lines(1))
    (made.folder / "changed.qrels").write_text(lines(0))
    for name in ("first", "second", "first-changed", "second-changed"):
        ranked = {query: rng.sample("abcdef", 6) for query in QUERIES}
        if name == "first-changed":
            ranked = {query: [*documents, "a"] for query, documents in ranked.items()}
            ranked = {query: [one for rank, one in enumerate(documents) if one != "a" or rank == 6]
                      for query, documents in ranked.items()}  # fmt: skip
        run = "".join(f"{query} Q0 {one} {rank} {-rank} t\n" for query, documents in ranked.items()
                      for rank, one in enumerate(documents, 1))  # fmt: skip
        (made.folder / f"{name}.run").write_text(run)
    (made.folder / "diverse.yaml").write_text(CONFIG)
    made.run(config="diverse.yaml")
    return made.folder / "results/diverse"


def metrics(finished, task, system):
    return pd.read_csv(finished / f"metrics/{task}/{system}/seed-0.tsv", sep="\t", index_col="query_id")


def test_judgements_by_subtopic_reach_the_comparison(finished):
    first, second = metrics(finished, "web", "first"), metrics(finished, "web", "second")
    assert first["alpha_nDCG@5"].between(0, 1).all() and not first["alpha_nDCG@5"].equals(first["nDCG@5"])
    meta = json.loads((finished / "meta/diversity.json").read_text())
    assert meta["summary"]["effect"] == pytest.approx((second - first)["alpha_nDCG@5"].mean())
    assert "unjudged" not in meta


def test_a_system_that_follows_a_changed_instruction_has_a_p_mrr_above_0(finished):
    assert (metrics(finished, "web", "first")["pMRR"] == 0).all()
    assert (metrics(finished, "changed", "first")["pMRR"] >= 0).all()
    meta = json.loads((finished / "meta/follows.json").read_text())
    assert (meta["control"], meta["treatment"]) == ("first", "first on changed")
    assert meta["summary"]["effect"] == pytest.approx(metrics(finished, "changed", "first")["pMRR"].mean())
    assert meta["k"] == 1
    assert meta["summary"]["ci_low"] > 0


def test_what_unjudged_documents_could_change_stands_in_record_tables_and_page(finished):
    record = json.loads((finished / "meta/judged.json").read_text())["unjudged"]
    assert set(record["cases"]) == {"lowest", "highest", "all", "condensed"} and 1 <= record["number"]["web"] <= 2
    row = pd.read_csv(finished / "tables/comparisons.tsv", sep="\t", index_col="comparison").loc["judged"]
    assert row["lowest_effect"] < row["fixed_mean_effect"] < row["highest_effect"]
    assert row["condensed_effect"] == record["cases"]["condensed"]["fixed_mean"]["effect"]
    table = (finished / "tables/effects/judged.md").read_text()
    assert "count as not relevant. The answer depends on them" in table and "| Removed (condensed lists)" in table
    assert "count as not relevant. The answer depends on them" in (finished / "summary.md").read_text()
