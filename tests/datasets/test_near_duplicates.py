"""Near-duplicates across splits: the similarity, candidates against all pairs, what prepared data count and lack."""

import json
import random
import re
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.datasets.counts import MISSED, PERMUTATIONS, bands, near, shingles
from ranktrial.ir.collection import read_queries
from ranktrial.ir.trec import read_qrels
from tests.datasets.test_claims import PARTS
from tests.datasets.test_prepare import settings
from tests.support.beir import write_beir
from tests.support.prepared import prepare

TEN = "one two three four five six seven eight nine ten"


def test_shingles_are_pairs_of_neighbouring_words_without_case_and_punctuation():
    assert shingles("The cat, THE CAT sat!") == {"the cat", "cat the", "cat sat"}
    assert shingles("Cat?") == {"cat"} and shingles("?! 🙂") == frozenset()
    assert shingles("猫が sat") == {"猫 が", "が sat"}  # no spaces are needed between Han and kana


def test_the_similarity_is_jaccards_and_a_bound_counts_as_reached():
    """Ten words have nine pairs. Another last word leaves 8 of 10 in common, one in the middle 7 of 11."""
    last, middle = TEN.replace("ten", "x"), TEN.replace("five", "x")
    tested = {("test", "a"): TEN, ("dev", "a"): TEN.upper()}
    both = set(tested)
    assert near({"q": last, "r": middle, "s": ""}, tested, 0.8) == {"q": both}
    assert near({"q": last, "r": middle}, tested, 0.81) == {}
    assert near({"q": last, "r": middle}, tested, 0.63) == {"q": both, "r": both}
    assert near({"q": last, "r": TEN}, tested, 1) == {"r": both}
    assert near({}, tested, 0.8) == near({"q": TEN}, {}, 0.8) == near({"q": "?"}, {("test", "a"): "!"}, 0.8) == {}


@pytest.mark.parametrize("similarity", [0.5, 0.6, 0.8, 0.95, 1])
def test_no_pair_is_missed(similarity):
    draw = random.Random(1)
    words = [f"w{n}" for n in range(12)]
    texts = [" ".join(draw.choices(words, k=draw.randint(1, 6))) for _ in range(400)]
    training = {f"t{n}": text for n, text in enumerate(texts[:300])}
    tested = {("test", f"q{n}"): text for n, text in enumerate(texts[300:])}

    def jaccard(one, other):
        first, second = shingles(one), shingles(other)
        return len(first & second) / len(first | second)

    pairs = {(query, name) for query, text in training.items() for name, other in tested.items()
             if jaccard(text, other) >= similarity}  # fmt: skip
    found = near(training, tested, similarity)
    assert {(query, name) for query, names in found.items() for name in names} == pairs
    assert len(pairs) > 20 and all(found.values())


def test_candidates_are_missed_less_than_once_in_a_million():
    for similarity in (0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1):
        count, rows = bands(similarity)
        assert count * rows <= PERMUTATIONS and (1 - similarity**rows) ** count <= MISSED
    assert bands(0.8) == (32, 4)


def collection(folder, texts, qrels):
    """A folder in BEIR's layout; each query has a document of its own."""
    judged = {split: [f"{name}\td{name}\t1" for name in names] for split, names in qrels.items()}
    return write_beir(folder, {f"d{name}": f"answer {name}" for name in texts}, texts, judged, heading="")


TEXTS = {"t": TEN, "d": "what is a dog", "s": "who is a cat",
         "a": f"{TEN}!", "b": TEN.replace("ten", "x"), "c": "What is a dog", "e": "free words", "u": "who is a CAT"}  # fmt: skip
QRELS = {"test": ["t", "s"], "dev": ["d"], "train": ["a", "b", "c", "e"]}


def statistics(folder):
    return json.loads((folder / "statistics.json").read_text())


def test_near_duplicates_are_counted_and_stay(tmp_path):
    assert prepare(collection(tmp_path / "in", TEXTS, QRELS), tmp_path / "out", settings()) == []
    counts = statistics(tmp_path / "out")
    assert counts["near_duplicate_similarity"] == 0.8
    assert {split: part.get("near_duplicates") for split, part in counts["splits"].items()} == {
        "test": 1, "dev": 1, "train": None}  # fmt: skip
    assert list(read_qrels(tmp_path / "out/qrels/train.qrels")) == QRELS["train"]


def test_those_of_train_are_left_out_with_their_judgements_and_said(tmp_path):
    """Also training queries without judgements; of all that are near a query that is no more in the sample, none."""
    source = collection(tmp_path / "in", TEXTS, QRELS)
    said = prepare(source, tmp_path / "out", settings(drop_near_duplicates=0.9, unjudged="train"))
    assert said == ["drop_near_duplicates: 3 of 5 training queries left out, of similarity 0.9 or more to 3 of 3 queries "
                    "of dev and test"]  # fmt: skip
    assert list(read_qrels(tmp_path / "out/qrels/train.qrels")) == ["b", "e"]
    assert list(read_queries(tmp_path / "out/queries/train.jsonl")) == ["b", "e"]
    counts = statistics(tmp_path / "out")
    train = counts["splits"]["train"]
    assert (train["queries"], train["near_duplicates_left_out"], train.get("unjudged")) == (2, 3, None)
    assert [counts["splits"][split]["near_duplicates"] for split in ("test", "dev")] == [0, 0]
    assert counts["near_duplicate_similarity"] == 0.9
    prepare(source, tmp_path / "sample", settings(drop_near_duplicates=0.9, test_queries=1, unjudged="train"))
    kept = set(read_queries(tmp_path / "sample/queries/test.jsonl"))
    expected = {"b", "e"} | ({"u"} if kept == {"t"} else {"a"})
    assert set(read_queries(tmp_path / "sample/queries/train.jsonl")) == expected


def test_splits_are_carved_before(tmp_path):
    """Of eight training queries with one text and one without, the split takes some; what stays in train is left out."""
    texts = {f"q{n}": TEN for n in range(8)} | {"other": "free words"}
    source = collection(tmp_path / "in", texts, {"train": list(texts)})
    prepare(source, tmp_path / "out", settings(splits={"test": 3}, drop_near_duplicates=0.8))
    assert len(read_qrels(tmp_path / "out/qrels/test.qrels")) == 3
    assert list(read_qrels(tmp_path / "out/qrels/train.qrels")) == ["other"]


def test_where_nothing_would_be_left_or_compared(tmp_path):
    source = collection(tmp_path / "all", TEXTS, QRELS | {"train": ["a", "b"]})
    with pytest.raises(UserError, match=r"drop_near_duplicates: every training query is of similarity 0\.8 or more"):
        prepare(source, tmp_path / "none", settings(drop_near_duplicates=0.8))
    assert not (tmp_path / "none").exists()
    prepare(collection(tmp_path / "test", TEXTS, {"test": ["t"]}), tmp_path / "out", settings())
    assert "near_duplicate_similarity" not in statistics(tmp_path / "out")
    with pytest.raises(UserError, match="drop_near_duplicates: needs training queries, and queries of dev or test"):
        prepare(tmp_path / "test", tmp_path / "none", settings(drop_near_duplicates=0.8))


COLLECTIONS = {
    "clef2020-checkthat-task2/v3.zip": settings(format="checkthat", splits={"dev": 100}, drop_shared=True, **PARTS),
    "emnlp2020-politifact": settings(
        format="emnlp2020", text="tweet", splits={"test": 0.15, "dev": 0.15}, split_by="documents"
    ),
    "beir/scifact.zip": settings(),
    "beir/nfcorpus.zip": settings(),
}


@pytest.mark.parametrize("place", COLLECTIONS)
def test_the_numbers_of_the_page(shared_data, tmp_path, place):
    """Near at 0.8 in docs/datasets.md: test queries, of how many, and the training queries that are left out."""
    entry = COLLECTIONS[place] | {"seed": 803}
    prepare(shared_data / place, tmp_path / "all", entry)
    prepare(shared_data / place, tmp_path / "dropped", entry | {"drop_near_duplicates": 0.8})
    counted, dropped = (statistics(tmp_path / name)["splits"] for name in ("all", "dropped"))
    found = (counted["test"]["near_duplicates"], counted["test"]["queries"], counted["train"]["queries"])
    page = (Path(__file__).parents[2] / "docs/datasets.md").read_text()
    numbers = r"(\d+) of ([\d,]+)"
    stated = re.findall(rf"^\| .* \| `{re.escape(place)}` \| {numbers} \| {numbers} \|$", page, re.M)
    assert stated == [
        (str(found[0]), str(found[1]), str(dropped["train"]["near_duplicates_left_out"]), f"{found[2]:,}")
    ]
    assert dropped["train"]["queries"] == counted["train"]["queries"] - dropped["train"]["near_duplicates_left_out"]
