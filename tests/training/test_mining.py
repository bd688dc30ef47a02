"""Negatives from systems: candidates in turn, filters as the library's own miner applies them, files and mistakes."""

import json
import random
from collections import Counter
from math import inf

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.trec import ranking, read_run, write_run
from ranktrial.training.examples import UNFIT, read_table
from ranktrial.training.labelled import Labelled
from ranktrial.training.mining import Bounds, Candidate, filtered, finding, in_turn
from scripts.training import mine, pool
from tests.support.calling import call
from tests.support.tiny_bert import build
from tests.training.test_negatives import Collection

SETTINGS = {
    "labels": "human",
    "from": ["near"],
    "per_query": 3,
    "exclude_evaluation": True,
    "queries": "all",
    "seed": 42,
}
RUNS = ("near", "far")


def test_sources_take_turns_and_each_document_counts_where_it_comes_first():
    rankings = {"a": ["d1", "d2", "d3", "d4"], "b": ["d2", "d5", "d1"]}
    assert in_turn(rankings, 0, None) == [
        Candidate("d1", "a", 1), Candidate("d2", "b", 1), Candidate("d5", "b", 2), Candidate("d3", "a", 3),
        Candidate("d4", "a", 4),
    ]  # fmt: skip
    assert in_turn(rankings, 1, 2) == [Candidate("d2", "a", 2), Candidate("d5", "b", 2)]
    assert in_turn({"a": [], "b": ["d1"]}, 0, 5) == [Candidate("d1", "b", 1)]
    assert in_turn({"a": ["d1"], "b": ["d1"]}, 1, None) == []


def test_a_query_that_does_not_find_its_document_is_left_out():
    found = Labelled({"q": ["p"], "r": ["p", "s"], "t": ["p"]}, {}, [], 0)
    listed = {query: [Candidate("a", "bm25", 1), Candidate("b", "bm25", 2)] for query in found.positives}
    scores = {
        "q": {"p": 1.0, "a": 2.0, "b": 0.0},
        "r": {"p": 0.0, "s": 5.0, "a": 5.0, "b": 4.0},
        "t": {"p": 3.0, "a": 2.0, "b": 1.0},
    }
    left, candidates, lost = finding(found, listed, scores, 1)
    assert left.positives == {"r": ["s"], "t": ["p"]} and list(candidates) == ["r", "t"] and lost == 1
    assert finding(found, listed, scores, 2)[0].positives == {"q": ["p"], "r": ["s"], "t": ["p"]}
    assert finding(found, listed, scores, None) == (found, listed, 0)
    with pytest.raises(UserError, match="none of the 1 training queries finds its document within rank 1"):
        finding(found._replace(positives={"q": ["p"]}), listed, scores, 1)


@pytest.mark.parametrize(
    ("bounds", "score", "positive", "rule"),
    [
        (Bounds(absolute_margin=0.1), 0.75, 0.8, "absolute_margin"),
        (Bounds(absolute_margin=0.1), 0.5, 0.8, None),
        (Bounds(absolute_margin=0), 0.8, 0.8, None),
        (Bounds(relative_margin=0.05), 0.77, 0.8, "relative_margin"),
        (Bounds(relative_margin=0.05), 0.75, 0.8, None),
        (Bounds(relative_margin=0.5), -1.4, -1.0, "relative_margin"),  # a positive below 0: its threshold is -1.5
        (Bounds(relative_margin=0.5), -1.6, -1.0, None),
        (Bounds(relative_margin=0), -3.0, -inf, "relative_margin"),
        (Bounds(absolute_margin=0), -3.0, -inf, "absolute_margin"),
        (Bounds(absolute_margin=0.1, relative_margin=0.1, max_score=0.1), 0.8, 0.8, "absolute_margin"),
        (Bounds(max_score=0.6, min_score=0.5), 0.7, -inf, "max_score"),
        (Bounds(max_score=0.6, min_score=0.5), 0.4, -inf, "min_score"),
        (Bounds(max_score=0.6, min_score=0.5), 0.6, -inf, None),
        (Bounds(), 9, -inf, None),
    ],
)
def test_the_first_rule_that_is_broken_counts(bounds, score, positive, rule):
    assert bounds.broken(score, positive) == rule


class Texts:
    """Random texts and a tiny model of them, with one or two positives per query."""

    def __init__(self, folder, seed):
        rng = random.Random(seed)
        words = [
            f"{first}{last}" for first in ("ash", "elm", "fig", "oak", "yew") for last in ("en", "let", "ling", "wood")
        ]
        texts = list(dict.fromkeys(" ".join(rng.choices(words, k=rng.randint(2, 6))) for _ in range(60)))
        self.documents = {f"d{n}": text for n, text in enumerate(texts)}
        self.queries = {f"q{n}": f"{rng.choice(words)} {rng.choice(words)} {n}" for n in range(12)}
        self.positives = {query: rng.sample(list(self.documents), rng.randint(1, 2)) for query in self.queries}
        self.folder = build(folder, [*texts, *self.queries.values()], seed)

    def pairs(self):
        return [(query, positive) for query, documents in self.positives.items() for positive in documents]

    def ours(self, ranked, scores, rescored=False, **given):
        """The negatives of each query by our filters, from all documents; at most three."""
        bounds = Bounds(**given)
        listed = {
            query: [one for one in in_turn({"model": ranking(ranked[query])}, 0, None) if one.document not in positives]
            for query, positives in self.positives.items()
        }
        mined = filtered(listed, self.positives, scores, bounds, rescored)
        return {query: [one.document for one in left[:3]] for query, left in mined.left.items()}, mined.filtered

    def theirs(self, **given):
        """The same by mine_hard_negatives."""
        from datasets import Dataset
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.util import mine_hard_negatives

        texts = {"query": [], "positive": []}
        for query, positive in self.pairs():
            texts["query"].append(self.queries[query])
            texts["positive"].append(self.documents[positive])
        made = mine_hard_negatives(
            Dataset.from_dict(texts), SentenceTransformer(str(self.folder), device="cpu"),
            corpus=list(self.documents.values()), range_max=len(self.documents), num_negatives=3, verbose=False, **given
        )  # fmt: skip
        query_of = {text: name for name, text in self.queries.items()}
        document_of = {text: name for name, text in self.documents.items()}
        found = {query: [] for query in self.queries}
        for row in made:
            name = document_of[row["negative"]]
            if name not in found[query_of[row["query"]]]:
                found[query_of[row["query"]]].append(name)
        return found

    def similarities(self):
        """The model's cosines of all queries and documents."""
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(self.folder), device="cpu")
        vectors = [
            model.encode(list(texts.values()), normalize_embeddings=True) for texts in (self.queries, self.documents)
        ]
        scores = vectors[0] @ vectors[1].T
        return {
            query: dict(zip(self.documents, map(float, row), strict=True))
            for query, row in zip(self.queries, scores, strict=True)
        }


@pytest.fixture(scope="module", params=[1, 2])
def texts(request, tmp_path_factory):
    return Texts(tmp_path_factory.mktemp("texts") / "model", request.param)


def thresholds(texts, scores):
    """Filters that leave some candidates of some queries, whatever the scale of the scores."""
    lowest = [min(scores[query][name] for name in names) for query, names in texts.positives.items()]
    every = sorted(score for of_query in scores.values() for score in of_query.values())
    spread = every[-1] - every[0]
    return [
        {"absolute_margin": spread * 0.03},
        {"relative_margin": 0.004},
        {"max_score": every[len(every) * 9 // 10]},
        {"min_score": every[len(every) * 8 // 10]},
        {"absolute_margin": 0.0, "relative_margin": 0.001, "max_score": sorted(lowest)[6]},
    ]


def test_the_same_negatives_as_the_library_mines(texts):
    scores = texts.similarities()
    assert texts.ours(scores, scores)[0] == texts.theirs()
    some = Counter()
    for given in thresholds(texts, scores):
        chosen, taken = texts.ours(scores, scores, **given)
        assert chosen == texts.theirs(**given), given
        some += taken
    assert set(some) == {"absolute_margin", "relative_margin", "max_score", "min_score"}


def test_the_same_negatives_as_the_library_filters_by_a_cross_encoder(texts):
    import torch
    from sentence_transformers import CrossEncoder

    torch.manual_seed(1)
    scorer = CrossEncoder(str(texts.folder), num_labels=1, device="cpu", activation_fn=torch.nn.Identity())
    ranked = texts.similarities()
    scores = {
        query: dict(
            zip(
                texts.documents,
                map(float, scorer.predict([(text, other) for other in texts.documents.values()])),
                strict=True,
            )
        )
        for query, text in texts.queries.items()
    }
    for given in thresholds(texts, scores):
        chosen, taken = texts.ours(ranked, scores, rescored=True, **given)
        assert chosen == texts.theirs(cross_encoder=scorer, **given), given
        assert sum(taken.values())


class Mined(Collection):
    """A random collection with the runs of two systems."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = random.Random(f"runs {seed}")
        self.runs = {
            name: {query: {d: rng.uniform(0.1, 1) for d in rng.sample(self.corpus, 20)} for query in self.queries}
            for name in RUNS
        }

    def inputs(self, folder, systems=("near",), bm25=False):
        for name, one in self.runs.items():
            write_run(folder / f"{name}.trec.gz", one, name)
        return {
            "corpus": folder / "corpus.jsonl", "queries": folder / "queries.jsonl", "qrels": folder / "train.qrels",
            "evaluation_qrels": [folder / "dev.qrels", folder / "test.qrels"],
            "first_stage": [folder / "run.trec.gz"] if bm25 else [], "runs": [folder / f"{name}.trec.gz" for name in systems],
        }  # fmt: skip

    def fit(self, query, documents):
        """Those of the documents that can be a negative of the query."""
        return [d for d in documents if d not in self.gold and self.train[query].get(d, 0) == 0]


@pytest.fixture
def mined(tmp_path):
    made = Mined(seed=4)
    return made, made.write(tmp_path / "collection")


def choose(made, folder, systems=("near",), scores=(), **given):
    """The examples of the file and the record."""
    settings = SETTINGS | {"from": list(systems)} | given
    sources = [name for name in settings["from"] if name != "bm25"]
    inputs = made.inputs(folder, sources, bm25="bm25" in settings["from"] or settings["labels"] == "bm25")
    paths = {"scores": list(scores), "negatives": folder / "out.tsv", "record": folder / "record.json"}
    call(mine.mine_negatives, settings, **inputs, **paths)
    header, *rows = [line.split("\t") for line in (folder / "out.tsv").read_text().splitlines()]
    read = [dict(zip(header, row, strict=True)) for row in rows]
    return [row for row in read if row["source"] != UNFIT], json.loads((folder / "record.json").read_text())


def test_a_systems_best_ranked_are_taken_with_its_name_and_rank(mined):
    made, folder = mined
    rows, record = choose(made, folder, range_min=1, range_max=12)
    assert list(rows[0]) == ["query_id", "positive_id", "negative_id", "source", "rank"]
    for query in made.queries:
        ranked = ranking(made.runs["near"][query])
        mine_ = [row for row in rows if row["query_id"] == query]
        chosen = list(dict.fromkeys(row["negative_id"] for row in mine_))
        assert chosen == (made.fit(query, ranked[1:12])[:3] if mine_ else [])
        assert all(row["source"] == "near" and ranked[int(row["rank"]) - 1] == row["negative_id"] for row in mine_)
    assert record["filtered"] == {} and record["from"] == ["near"]
    assert record["queries"] == len({r["query_id"] for r in rows})
    assert read_table(folder / "out.tsv").queries == record["queries"]


def test_several_sources_in_turn(mined, capsys):
    made, folder = mined
    rows, record = choose(made, folder, ("bm25", "near", "far"), per_query=6)
    for query in made.queries:
        rankings = {
            "bm25": ranking(made.run.get(query, {})),
            **{name: ranking(made.runs[name][query]) for name in RUNS},
        }
        expected = [one for one in in_turn(rankings, 0, None) if made.fit(query, [one.document])][:6]
        found = dict.fromkeys((r["negative_id"], r["source"], int(r["rank"])) for r in rows if r["query_id"] == query)
        assert list(found) == (expected if found else [])
    assert set(record["negatives"]) == {"bm25", "near", "far"}
    assert "negatives from bm25, near, far" in capsys.readouterr().err


def test_a_margin_by_the_systems_own_scores_is_counted_and_kept(mined, capsys):
    made, folder = mined
    rows, record = choose(made, folder, relative_margin=0.1, min_score=0.2)
    assert list(rows[0])[3:] == ["source", "rank", "positive_score", "score"]
    counted, left_of = Counter(), {}
    for query in made.queries:
        scores = made.runs["near"][query]
        relevant = [d for d, grade in made.train[query].items() if grade > 0 and d in made.corpus]
        if not relevant:
            continue
        # a relevant document that the run lacks is below all that it holds: no candidate is sure to be no other one
        positive = min(scores.get(d, -inf) for d in relevant)
        left_of[query] = []
        for d in made.fit(query, ranking(scores)):
            if positive == -inf or scores[d] > positive * 0.9:
                counted["relative_margin"] += 1
            elif scores[d] < 0.2:
                counted["min_score"] += 1
            else:
                left_of[query].append(d)
    chosen = {query: [] for query in left_of}
    for row in rows:
        assert float(row["score"]) == pytest.approx(made.runs["near"][row["query_id"]][row["negative_id"]])
        if row["negative_id"] not in chosen[row["query_id"]]:
            chosen[row["query_id"]].append(row["negative_id"])
    assert chosen == {query: left[:3] for query, left in left_of.items()}
    assert record["filtered"] == dict(counted) and counted["relative_margin"] and counted["min_score"]
    lacking = sum(
        1
        for query in left_of
        if any(
            d not in made.runs["near"][query]
            for d, grade in made.train[query].items()
            if grade > 0 and d in made.corpus
        )
    )
    assert record["queries_without_positive_score"] == lacking > 0
    assert record["queries_without_negatives"] == sum(1 for left in left_of.values() if not left)
    said = capsys.readouterr().err
    assert f"{counted['relative_margin']} of {record['candidates']} candidates" in said
    assert "are filtered by relative_margin 0.1" in said and "queries have no negative" in said


def test_bm25_alone_keeps_the_name_of_its_column(mined):
    made, folder = mined
    rows, record = choose(made, folder, ("bm25",), max_score=5)
    assert list(rows[0])[3:5] == ["source", "bm25_rank"] and {row["source"] for row in rows} == {"bm25"}
    assert all(float(row["score"]) <= 5 for row in rows) and record["filtered"]["max_score"]


def test_draws_of_epochs_are_among_what_is_left(mined):
    made, folder = mined
    given = {"sampling_strategy": "random", "per_query": 1, "positives": 1, "epochs": 3, "max_score": 0.9}
    rows, _ = choose(made, folder, **given)
    assert {row["epoch"] for row in rows} == {"1", "2", "3"} and all(float(row["score"]) <= 0.9 for row in rows)
    counts = Counter(row["epoch"] for row in rows)
    assert len(set(counts.values())) == 1
    assert choose(made, folder, **given)[0] == rows
    of_epochs = [[row["negative_id"] for row in rows if row["epoch"] == n] for n in "123"]
    assert of_epochs[0] != of_epochs[1]


def test_a_cross_encoder_scores_candidates_and_positives_and_orders_what_is_left(mined):
    made, folder = mined
    inputs = made.inputs(folder, ("near", "far"))
    of_pool = {key: value for key, value in SETTINGS.items() if key != "per_query"} | {
        "from": ["near", "far"],
        "range_max": 10,
    }
    call(pool.collect_pairs, of_pool, **inputs, pairs=folder / "pool.trec.gz")
    pooled = read_run(folder / "pool.trec.gz")
    rng = random.Random(1)
    scores = {query: {d: rng.uniform(-5, 5) for d in documents} for query, documents in pooled.items()}
    write_run(folder / "scores.trec.gz", scores, "ce")
    given = {"cross_encoder": "ce", "absolute_margin": 0.5, "range_max": 10}
    rows, record = choose(made, folder, ("near", "far"), [folder / "scores.trec.gz"], **given)
    for query, of_query in scores.items():
        relevant = [d for d, grade in made.train[query].items() if grade > 0 and d in made.corpus]
        assert set(relevant) <= set(of_query)
        rankings = {name: ranking(made.runs[name][query]) for name in RUNS}
        candidates = made.fit(query, [one.document for one in in_turn(rankings, 0, 10)])
        assert set(of_query) == {*relevant, *candidates}
        positive = min(of_query[d] for d in relevant)
        expected = [d for d in ranking(of_query) if d in candidates and of_query[d] + 0.5 <= positive][:3]
        assert list(dict.fromkeys(r["negative_id"] for r in rows if r["query_id"] == query)) == expected
    assert record["cross_encoder"] == "ce" and record["filtered"]["absolute_margin"]
    one = next(iter(scores))
    scores[one] = {d: 0.0 for d in list(scores[one])[1:]}
    write_run(folder / "scores.trec.gz", scores, "ce")
    with pytest.raises(UserError, match=r"the scores by ce have none of document .* they belong to other candidates"):
        choose(made, folder, ("near", "far"), [folder / "scores.trec.gz"], **given)


def test_pseudo_labels_are_no_negatives(mined):
    made, folder = mined
    rows, _ = choose(made, folder, labels="bm25")
    assert {row["positive_id"] for row in rows} == {ranking(scores)[0] for scores in made.run.values()}
    assert not any(row["positive_id"] == row["negative_id"] for row in rows)


def test_no_negative_at_all_is_reported_with_the_rule(mined):
    made, folder = mined
    with pytest.raises(
        UserError, match=r"training queries has a negative: of \d+ candidates \d+ by min_score are filtered"
    ):
        choose(made, folder, min_score=99)
    assert not (folder / "out.tsv").exists()


def test_positives_that_are_not_known_are_below_all(mined):
    listed = {"q": [Candidate("d1", "s", 1)]}
    found = Labelled({"q": ["d9"]}, {"q": {"d9"}}, [], 0)
    mined_ = filtered(listed, found.positives, {"q": {"d1": 0.1}}, Bounds(relative_margin=0), rescored=False)
    assert mined_.left == {"q": []} and mined_.filtered == {"relative_margin": 1}
