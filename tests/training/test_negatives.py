"""Negatives: their rules on many random collections, determinism, samples, pseudo-labels and mistakes."""

import csv
import random
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import ranking, write_qrels, write_run
from ranktrial.training import labelled
from ranktrial.training.examples import UNFIT
from scripts.training import negatives
from tests.support.calling import call

SETTINGS = {"labels": "human", "from": "bm25", "per_query": 3, "exclude_evaluation": True, "queries": "all", "seed": 42}


class Collection:
    """A random collection with everything that negatives are chosen from."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.corpus = [f"d{n}" for n in range(30)]
        self.queries = [f"q{n}" for n in range(12)]
        self.train = {q: {d: rng.randint(0, 2) for d in rng.sample([*self.corpus, "gone"], 4)} for q in self.queries}
        self.dev = {"dev1": {d: rng.randint(0, 1) for d in rng.sample(self.corpus, 4)}}
        self.test = {"test1": {d: rng.randint(0, 1) for d in rng.sample(self.corpus, 4)}}
        self.run = {q: {d: float(rng.randint(1, 9)) for d in rng.sample(self.corpus, 15)} for q in self.queries[:-1]}
        self.gold = {d for qrels in (self.dev, self.test) for grades in qrels.values() for d in grades if grades[d] > 0}

    def write(self, folder: Path, shuffle: bool = False) -> Path:
        folder.mkdir()
        order = random.Random(1)
        train = (
            {q: dict(order.sample(list(g.items()), len(g))) for q, g in self.train.items()} if shuffle else self.train
        )
        train = dict(order.sample(list(train.items()), len(train))) if shuffle else train
        write_corpus(folder / "corpus.jsonl", (Document(name, "", f"text {name}") for name in self.corpus))
        write_queries(folder / "queries.jsonl", {q: f"asks {q}" for q in self.queries})
        for name, qrels in (("train", train), ("dev", self.dev), ("test", self.test)):
            write_qrels(folder / f"{name}.qrels", qrels)
        write_run(folder / "run.trec.gz", self.run, "bm25")
        return folder

    def choose(self, folder: Path, run: bool = True, **settings) -> list[dict[str, str]]:
        texts = {
            "corpus": folder / "corpus.jsonl",
            "queries": folder / "queries.jsonl",
            "qrels": folder / "train.qrels",
        }
        judged = [folder / "dev.qrels", folder / "test.qrels"]
        runs = [folder / "run.trec.gz"] if run else []
        made = {"evaluation_qrels": judged, "first_stage": runs, "negatives": folder / "out.tsv"}
        call(negatives.negatives, SETTINGS | settings, **texts, **made)
        with open(folder / "out.tsv") as file:
            return [row for row in csv.DictReader(file, delimiter="\t") if row["source"] != UNFIT]


@pytest.fixture
def collection(tmp_path) -> tuple[Collection, Path]:
    made = Collection(seed=1)
    return made, made.write(tmp_path / "collection")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("source", ["bm25", "random"])
@pytest.mark.parametrize("exclude", [True, False])
def test_rules(tmp_path, capsys, seed, source, exclude):
    made = Collection(seed)
    settings = {"from": source, "exclude_evaluation": exclude}
    rows = made.choose(made.write(tmp_path / "data"), **settings)
    relevant = {q: {d for d, grade in grades.items() if grade > 0} for q, grades in made.train.items()}
    for query in made.queries:
        mine = [row for row in rows if row["query_id"] == query]
        positives = {row["positive_id"] for row in mine}
        ranked = ranking(made.run.get(query, {}))
        allowed = [d for d in (ranked if source == "bm25" else made.corpus) if d not in relevant[query]]
        allowed = [d for d in allowed if not (exclude and d in made.gold)]
        wanted = relevant[query] - {"gone"} if allowed else set()
        assert positives == wanted
        for positive in positives:
            chosen = [row["negative_id"] for row in mine if row["positive_id"] == positive]
            assert len(chosen) == len(set(chosen)) == min(3, len(allowed))
            assert chosen == allowed[:3] if source == "bm25" else set(chosen) <= set(allowed)
        for row in mine:
            rank = ranked.index(row["negative_id"]) + 1 if row["negative_id"] in ranked else ""
            assert (row["source"], row["bm25_rank"]) == (source, str(rank))
    said = capsys.readouterr().err
    assert ("positives are not in the corpus" in said) == any("gone" in documents for documents in relevant.values())
    assert source == "random" or "have fewer than 3 negatives" in said  # the last query is not in the run


def test_the_order_of_the_qrels_changes_nothing(tmp_path):
    made = Collection(seed=3)
    for source in ("bm25", "random"):
        written = [made.write(tmp_path / f"{source}-{shuffle}", shuffle) for shuffle in (False, True)]
        chosen = [made.choose(folder, **{"from": source}) for folder in written]
        assert chosen[0] == chosen[1]


def test_a_seed_draws_the_same_and_another_seed_others(collection):
    made, folder = collection
    drawn = [made.choose(folder, **{"from": "random", "seed": seed}) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_random_negatives_need_no_run(collection):
    made, folder = collection
    with_run = made.choose(folder, **{"from": "random"})
    without = made.choose(folder, run=False, **{"from": "random"})
    assert [row["negative_id"] for row in with_run] == [row["negative_id"] for row in without]
    assert {row["bm25_rank"] for row in without} == {""}


def test_a_smaller_sample_of_queries_is_part_of_a_larger_one(collection):
    made, folder = collection
    rows = {n: made.choose(folder, queries=n) for n in (2, 5, 9, 12)}
    asked = {n: {row["query_id"] for row in chosen} for n, chosen in rows.items()}
    assert len(asked[2]) == 2 and len(asked[5]) == 5
    assert asked[2] < asked[5] < asked[9] <= asked[12]
    everything = made.choose(folder)
    assert rows[12] == everything
    assert rows[5] == [row for row in everything if row["query_id"] in asked[5]]
    other = {row["query_id"] for row in made.choose(folder, queries=5, seed=7)}
    assert other != asked[5]


def test_pseudo_labels_do_not_look_at_the_training_qrels(collection):
    made, folder = collection
    rows = made.choose(folder, labels="bm25", exclude_evaluation=False)
    for query, scores in made.run.items():
        mine = [row for row in rows if row["query_id"] == query]
        ranked = ranking(scores)
        assert {row["positive_id"] for row in mine} == {ranked[0]}
        assert [row["negative_id"] for row in mine] == ranked[1:4]
    (folder / "train.qrels").write_text("this is not read")
    assert made.choose(folder, labels="bm25", exclude_evaluation=False) == rows


def test_permuted_labels_are_those_of_another_query_drawn_by_the_seed(collection):
    """All judgements of a query move together, each query's to one; what is judged relevant there is no negative."""
    made, folder = collection
    rows = made.choose(folder, labels="permuted", exclude_evaluation=False)
    right = made.choose(folder, exclude_evaluation=False)

    def positives(chosen):
        found = {}
        for row in chosen:
            found.setdefault(row["query_id"], set()).add(row["positive_id"])
        return found

    permuted, human = positives(rows), positives(right)
    gold = {query: frozenset(d for d, grade in judged.items() if grade > 0) for query, judged in made.train.items()}
    assert any(permuted[query] != human.get(query) for query in permuted)
    assert {frozenset(found) for found in permuted.values()} <= {frozenset(found - {"gone"}) for found in gold.values()}
    assert all(row["negative_id"] not in permuted[row["query_id"]] for row in rows)
    assert any(row["negative_id"] in gold[row["query_id"]] for row in rows)
    assert made.choose(folder, labels="permuted", exclude_evaluation=False) == rows
    assert made.choose(folder, labels="permuted", exclude_evaluation=False, seed=7) != rows


def test_a_permutation_of_judgements_loses_none_and_leaves_none_in_place():
    qrels = {f"q{n}": {f"d{n}": 1} for n in range(500)} | {"unjudged": {}, "none": {"d1": 0}}
    moved = labelled.permuted(qrels, 42)
    assert set(moved) == set(qrels) - {"unjudged", "none"}
    assert sorted(map(min, moved.values())) == sorted(f"d{n}" for n in range(500))
    assert not any(moved[query] == qrels[query] for query in moved)


def test_mistakes_are_reported(collection):
    made, folder = collection
    for settings in ({"from": "bm25"}, {"from": "random", "labels": "bm25"}):
        with pytest.raises(UserError, match="need --first-stage"):
            made.choose(folder, run=False, **settings)
    (folder / "train.qrels").write_text("")
    with pytest.raises(UserError, match="no train split to learn from"):
        made.choose(folder)
    (folder / "train.qrels").write_text("q1 0 gone 1\nq2 0 d1 0\n")
    (folder / "out.tsv").unlink(missing_ok=True)
    with pytest.raises(UserError, match=r"queries.jsonl: none of the 12 training queries has a positive"):
        made.choose(folder)
    (folder / "train.qrels").write_text("".join(f"q1 0 {name} 1\n" for name in made.corpus))
    with pytest.raises(UserError, match="none of the 1 training queries has a document left"):
        made.choose(folder)
    assert not (folder / "out.tsv").exists()
