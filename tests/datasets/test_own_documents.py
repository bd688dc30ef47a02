"""Queries that are documents: found by id and text, dropped or kept as the dataset says, and what a file excludes."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.datasets.excluded import alike
from ranktrial.ir.collection import read_excluded, write_queries
from scripts.datasets import prepare as script
from tests.support.beir import write_beir
from tests.support.prepared import prepare

CLAIMS = {
    "arg0": "school uniforms should be banned because they limit expression of pupils",
    "arg1": "school uniforms should be kept because they make pupils equal",
    "arg2": "zoos protect animals and teach children",
    "7": "which of all questions has a number of its own?",
}
PAIRS = {"arg0": "arg1", "arg1": "arg0", "arg2": "7", "7": "arg2"}
CURE = "write `own_document: drop` under datasets.out to leave each out for its own query, or `keep`"


def collection(folder: Path, titles=None, changes=None, splits=None) -> Path:
    """A BEIR folder: the claims are the corpus and the queries, but for 7, whose document has another text."""
    titles, texts = titles or {}, CLAIMS | {"7": "a passage that happens to stand in line seven"} | (changes or {})
    documents = [{"_id": name, "title": titles.get(name, ""), "text": text} for name, text in texts.items()]
    judged = (splits or {"test": list(CLAIMS)}).items()
    lines = {split: [f"{name}\t{PAIRS[name]}\t1" for name in names] for split, names in judged}
    return write_beir(folder, documents, CLAIMS, lines)


def made(source: Path, out: Path, excluded: Path | None = None, **entry):
    """What is excluded for the queries of test, their statistics, and what is reported."""
    remarks = prepare(source, out, {"format": "beir", "seed": 1, **entry}, excluded=excluded)
    counts = json.loads((out / "statistics.json").read_text())["splits"]
    return read_excluded(out / "queries/test.jsonl"), counts["test"], remarks


def test_without_a_word_queries_that_are_documents_stop_the_dataset(tmp_path):
    with pytest.raises(UserError) as error:
        made(collection(tmp_path / "in"), tmp_path / "out")
    found = "3 of 4 queries are also documents, with the same id and (nearly) the same text, such as arg0"
    assert str(error.value) == f"{tmp_path / 'in'}: {found}: {CURE}"
    assert not (tmp_path / "out").exists()


def test_drop_excludes_each_for_its_own_query_but_not_where_ids_coincide_by_chance(tmp_path):
    excluded, counts, remarks = made(collection(tmp_path / "in"), tmp_path / "out", own_document="drop")
    assert excluded == {name: {name} for name in ("arg0", "arg1", "arg2")}
    assert (counts["own_documents"], counts["excluded"], counts["ids_by_chance"]) == (3, 3, 1)
    assert remarks == ["test: 1 queries have the id of a document with another text, which stays"]
    corpus = (tmp_path / "out/corpus.jsonl").read_text().splitlines()
    assert len(corpus) == 4  # they stay documents of other queries


def test_keep_excludes_nothing_and_counts_them(tmp_path):
    excluded, counts, _ = made(collection(tmp_path / "in"), tmp_path / "out", own_document="keep")
    assert (excluded, counts["own_documents"], "excluded" in counts) == ({}, 3, False)


def test_ids_that_coincide_by_chance_need_no_word_and_are_no_fault_of_strict_data(tmp_path):
    others = {name: f"passage number {number} is on something else" for number, name in enumerate(CLAIMS)}
    excluded, counts, remarks = made(collection(tmp_path / "in", changes=others), tmp_path / "out", strict=True)
    assert (excluded, counts["ids_by_chance"], "own_documents" in counts) == ({}, 4, False)
    assert remarks == ["test: 4 queries have the id of a document with another text, which stays"]


def test_a_document_with_a_title_or_small_changes_is_still_the_query(tmp_path):
    titles = {"arg0": "society education family house would ban school uniforms", "arg1": CLAIMS["arg1"]}
    changes = {"arg1": "an abstract that goes on " * 20, "arg2": "Zoos protect animals - and  teach Children!"}
    excluded, *_ = made(collection(tmp_path / "in", titles, changes), tmp_path / "out", own_document="drop")
    assert set(excluded) == {"arg0", "arg1", "arg2"}


@pytest.mark.parametrize(
    ("query", "text", "same"),
    [
        ("How do I read and find my YouTube comments?", "how do i read and find my you tube comments", True),
        ("How can I see all my Youtube comments?", "How do I read and find my YouTube comments?", False),
        ("東京の人口は何人ですか。", "東京の人口は何人ですか", True),
        ("東京の人口は何人ですか。", "大阪の面積はどれくらいですか", False),
        ("??", "??", True),
        ("??", "!!", False),
        ("ab", "ab", True),
        ("ab", "ac", False),
        ("what is", "what is the answer to all of these questions, and who would know it?", False),
    ],
)
def test_nearly_the_same(query, text, same):
    assert alike(query, text) is alike(text, query) is same


def test_of_real_abstracts_none_is_like_another_of_its_length(scifact):
    longest_first = sorted(scifact, key=len, reverse=True)
    assert not any(alike(one, other) for one, other in pairwise(longest_first[:1500]))


@pytest.fixture(scope="module")
def scifact(shared_data, tmp_path_factory):
    import zipfile

    with zipfile.ZipFile(shared_data / "beir/scifact.zip") as archive:
        name = next(name for name in archive.namelist() if name.endswith("corpus.jsonl"))
        return {json.loads(line)["text"] for line in archive.read(name).decode().splitlines()}


def test_splits_of_one_corpus_each_have_their_own(tmp_path):
    splits = {"train": ["arg0", "7"], "test": ["arg1", "arg2"]}
    excluded, counts, _ = made(collection(tmp_path / "in", splits=splits), tmp_path / "out", own_document="drop")
    assert excluded == {"arg1": {"arg1"}, "arg2": {"arg2"}} and counts["excluded"] == 2
    assert read_excluded(tmp_path / "out/queries/train.jsonl") == {"arg0": {"arg0"}}


def test_a_dataset_that_shares_a_corpus_says_it_for_its_own_queries(tmp_path):
    source = collection(tmp_path / "in")
    made(source, tmp_path / "first", own_document="keep")
    entry = {"format": "beir", "seed": 1, "own_document": "drop"}
    prepare(source, tmp_path / "out", entry, tmp_path / "first/corpus.jsonl")
    assert len(read_excluded(tmp_path / "out/queries/test.jsonl")) == 3 and not (tmp_path / "out/corpus.jsonl").exists()


def pairs(folder: Path, text: str) -> Path:
    (folder / "pairs.tsv").write_text(text)
    return folder / "pairs.tsv"


def test_a_file_excludes_more_and_answers_for_the_own_documents_that_it_names(tmp_path):
    named = pairs(tmp_path, "query-id\tdoc-id\narg0\targ0\narg0\t7\narg1 arg1\narg2\targ2\nq\t7\narg0\tgone\n")
    excluded, counts, remarks = made(collection(tmp_path / "in"), tmp_path / "out", named)
    assert excluded == {"arg0": {"arg0", "7", "gone"}, "arg1": {"arg1"}, "arg2": {"arg2"}}
    assert (counts["own_documents"], counts["excluded"]) == (3, 5)
    assert remarks[1:] == [
        "excluded: 1 of 6 pairs name queries that are in no split",
        "excluded: 1 of 6 pairs name documents that the corpus lacks",
    ]
    named = pairs(tmp_path, "arg0\targ0\n7\t7\n")
    with pytest.raises(UserError, match=r"2 of 4 queries are also documents.* such as arg1"):
        made(tmp_path / "in", tmp_path / "other", named)
    excluded, *_ = made(tmp_path / "in", tmp_path / "other", named, own_document="drop")
    assert excluded == {name: {name} for name in CLAIMS}  # 7 by the file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arg0 0 arg1\n", "pairs.tsv:1: 3 columns; expected 2: the ids of a query and a document"),
        ("arg0\targ0\n\narg1\n", "pairs.tsv:3: 1 columns; expected 2"),
        ("qid\tdocid\n", "pairs.tsv: has no pair of a query and a document"),
        ("x\targ0\ny\targ1\n", "excluded: all 2 pairs name queries that are in no split: they belong to other data"),
        ("arg0\tx\n", "excluded: all 1 pairs name documents that the corpus lacks: they belong to other data"),
    ],
)
def test_a_file_that_is_wrong_is_one_line(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        made(collection(tmp_path / "in"), tmp_path / "out", pairs(tmp_path, text), own_document="keep")
    assert not (tmp_path / "out").exists()


RELEVANT = "test: 1 documents are judged relevant and excluded for the same query, such as arg1 for arg0"


def test_what_is_relevant_cannot_be_excluded(tmp_path):
    named = pairs(tmp_path, "arg0\targ1\n")
    with pytest.raises(UserError, match=RELEVANT):
        made(collection(tmp_path / "in"), tmp_path / "out", named, own_document="keep")


def test_nor_by_further_judgements_of_its_runs(tmp_path):
    (tmp_path / "q.txt").write_text("arg0 0 arg1 2\narg0 0 7 0\n")
    write_queries(tmp_path / "of/test.jsonl", CLAIMS, {"arg0": {"7"}})
    settings = script.Settings(source=str(tmp_path / "q.txt"), format="qrels", seed=1)
    files = script.Files(ranked_queries=[tmp_path / "of/test.jsonl"])
    script.prepare(tmp_path / "fine", settings, files)
    write_queries(tmp_path / "of/test.jsonl", CLAIMS, {"arg0": {"7", "arg1"}})
    with pytest.raises(UserError, match=RELEVANT):
        script.prepare(tmp_path / "out", settings, files)


def test_passages_of_a_query_have_what_is_excluded_for_it(tmp_path):
    from scripts.datasets.passages import split as passages
    from tests.support.calling import call

    write_queries(tmp_path / "q.jsonl", {"q": "One sentence. Another sentence.", "r": "Third."}, {"q": {"d"}})
    call(passages, {"length": 15, "language": "en"}, texts=tmp_path / "q.jsonl", passages=tmp_path / "p")
    assert len((tmp_path / "p").read_text().splitlines()) == 3
    assert read_excluded(tmp_path / "p") == {"q": {"d"}}
