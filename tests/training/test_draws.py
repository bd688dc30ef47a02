"""Draws: of any of BM25's candidates, of positives, for each epoch and sample; samples that are too large; mistakes."""

import math
from collections import Counter

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.query_samples import fold_of
from ranktrial.ir.trec import ranking
from ranktrial.training.examples import read_table
from ranktrial.training.labelled import drawn, sample, sample_key
from tests.training.test_negatives import SETTINGS, Collection

EACH = {"sampling_strategy": "random", "range_max": 10, "per_query": 1, "positives": 1, "epochs": 3}


@pytest.fixture
def collection(tmp_path):
    made = Collection(seed=2)
    return made, made.write(tmp_path / "collection")


def pairs(rows, epoch=None):
    chosen = [row for row in rows if epoch is None or row["epoch"] == str(epoch)]
    return [(row["query_id"], row["positive_id"], row["negative_id"]) for row in chosen]


def test_negatives_are_drawn_from_the_range_of_the_ranking_evenly():
    key = sample_key(42, 1, "all", False)
    pool = [f"d{n}" for n in range(10)]
    counts = Counter(name for n in range(4000) for name in drawn(pool, {"d3"}, 2, f"{key}\tq{n}"))
    assert set(counts) == set(pool) - {"d3"}
    expected = 4000 * 2 / 9
    # each count is binomial with n = 4000, p = 2/9: five standard deviations
    assert all(abs(count - expected) < 5 * math.sqrt(4000 * 2 / 9 * 7 / 9) for count in counts.values())


def test_candidates_are_those_of_the_range(collection):
    made, folder = collection
    for strategy in ("top", "random"):
        settings = {"range_min": 2, "range_max": 9, "sampling_strategy": strategy, "per_query": 20}
        rows = made.choose(folder, **settings)
        for query in made.queries[:-1]:
            ranked, judged = ranking(made.run[query]), made.train[query]
            fit = [d for d in ranked[2:9] if d not in made.gold and not judged.get(d)]
            mine = [row for row in rows if row["query_id"] == query]
            first = next((row["positive_id"] for row in mine), None)
            chosen = [row["negative_id"] for row in mine if row["positive_id"] == first]
            assert chosen == fit if strategy == "top" else sorted(chosen) == sorted(fit)


def test_each_epoch_has_a_draw_of_its_own_that_depends_on_query_and_seed_alone(collection):
    made, folder = collection
    rows = made.choose(folder, **EACH)
    assert list(rows[0]) == ["query_id", "positive_id", "negative_id", "source", "bm25_rank", "epoch"]
    of_epochs = [pairs(rows, epoch) for epoch in (1, 2, 3)]
    assert of_epochs[0] != of_epochs[1] != of_epochs[2]
    for of_epoch in of_epochs:
        assert len({query for query, _, _ in of_epoch}) == len(of_epoch) >= 8  # one pair a query
    assert made.choose(folder, **EACH) == rows
    assert pairs(made.choose(folder, **EACH | {"seed": 7})) != pairs(rows)
    fewer = made.choose(folder, **EACH | {"queries": 5})
    asked = {row["query_id"] for row in fewer}
    assert len(asked) <= 5 and fewer == [row for row in rows if row["query_id"] in asked]
    longer = made.choose(folder, **EACH | {"epochs": 4})
    assert [row for row in longer if row["epoch"] != "4"] == rows  # an epoch more changes none before it


def test_all_relevant_documents_come_up_as_positives_over_many_epochs(collection):
    made, folder = collection
    rows = made.choose(folder, **EACH | {"epochs": 60})
    for query in {row["query_id"] for row in rows}:
        relevant = {d for d, grade in made.train[query].items() if grade > 0 and d != "gone"}
        assert {row["positive_id"] for row in rows if row["query_id"] == query} == relevant


def test_positives_among_the_candidates_alone(collection, capsys):
    made, folder = collection
    given = {"among_candidates": True, "range_max": 8}
    rows = [row for row in made.choose(folder, **given) if row["source"] != "none"]
    expected, left_out = {}, set()
    for query in made.queries:
        relevant = {d for d, grade in made.train[query].items() if grade > 0 and d != "gone"}
        if found := relevant & set(ranking(made.run.get(query, {}))[:8]):
            expected[query] = found
        elif relevant:
            left_out.add(query)
    assert expected and left_out
    learnt = {query: {row["positive_id"] for row in rows if row["query_id"] == query} for query in expected}
    assert learnt == expected
    assert f"{len(left_out)} queries are left out: none of their positives is among" in capsys.readouterr().err
    table = read_table(folder / "out.tsv")
    assert (table.queries, table.without_candidate) == (len(expected), len(left_out))
    # no relevant document is a negative, also where it is not among the candidates
    assert not any(made.train[row["query_id"]].get(row["negative_id"]) for row in rows)


def test_samples_differ_and_nest_within_their_number(collection):
    made, folder = collection

    def asked(**settings):
        return {row["query_id"] for row in made.choose(folder, **settings)}

    first, second = [{n: asked(queries=n, sample=number) for n in (3, 6)} for number in (1, 2)]
    assert first[3] < first[6] and second[3] < second[6] and first[3] != second[3]
    assert first[3] == asked(queries=3)  # the first is that of a recipe without samples
    names = [f"q{n}" for n in range(1000)]
    apart = [set(sample(names, size, sample_key(42, 1, size, True))) for size in (100, 200)]
    assert 5 < len(apart[0] & apart[1]) < 40  # 20 are expected by chance; nested ones would share 100
    third = asked(queries=6, sampling="independent")
    assert len(third) >= 5 and third != first[6]  # one query has no ranking, so no negatives


def test_the_pairs_of_epochs_differ_between_samples(collection):
    made, folder = collection
    one, other = (made.choose(folder, **EACH | {"queries": 9, "sample": n}) for n in (1, 2))
    both = {row["query_id"] for row in one} & {row["query_id"] for row in other}
    shared = [[pair for pair in pairs(rows) if pair[0] in both] for rows in (one, other)]
    assert both and shared[0] != shared[1]


def test_a_sample_larger_than_what_there_is_is_a_mistake(collection):
    made, folder = collection
    usable = len({row["query_id"] for row in made.choose(folder, **{"from": "random"})})
    problem = f"queries.jsonl: only {usable} training queries can be used, fewer than the {usable + 1}"
    with pytest.raises(UserError, match=problem):
        made.choose(folder, queries=usable + 1)


def test_positives_among_candidates_need_a_run_and_one_that_holds_them(collection):
    made, folder = collection
    with pytest.raises(UserError, match="need --first-stage"):
        made.choose(folder, run=False, **{"from": "random", "among_candidates": True})
    (folder / "train.qrels").write_text(f"{made.queries[-1]} 0 d1 1\n")  # a query that BM25 has no ranking of
    with pytest.raises(UserError, match="none of the 1 training queries has a positive among BM25's candidates"):
        made.choose(folder, among_candidates=True)


def test_pseudo_labels_need_no_judgements_at_all(collection):
    """Queries alone: the qrels are empty, as those of a dataset whose train split has none."""
    made, folder = collection
    for name in ("train", "dev", "test"):
        (folder / f"{name}.qrels").write_text("")
    rows = made.choose(folder, labels="bm25", **EACH)
    assert {row["query_id"] for row in rows} == set(made.run)
    for row in rows:
        ranked = ranking(made.run[row["query_id"]])
        assert row["positive_id"] == ranked[0] and row["negative_id"] in ranked[1:10]


def test_each_query_is_left_out_by_one_of_the_folds(collection):
    made, folder = collection
    asked = {fold: {row["query_id"] for row in made.choose(folder, folds=3, left_out_fold=fold)}
             for fold in (1, 2, 3)}  # fmt: skip
    every = {row["query_id"] for row in made.choose(folder)}
    left_out = {fold: every - kept for fold, kept in asked.items()}
    assert sorted(query for queries in left_out.values() for query in queries) == sorted(every) and len(every) > 3
    for fold, queries in left_out.items():
        assert queries == {query for query in every if fold_of(query, 3, SETTINGS["seed"]) == fold}
