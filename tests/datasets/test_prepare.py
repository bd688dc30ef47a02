"""Splits without leakage, the prepared layout, its statistics, and what stops the preparation."""

import json
import random
import shutil
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.datasets.splits import bound_groups, carve, carve_by_document
from ranktrial.ir.collection import read_corpus, read_queries
from ranktrial.ir.trec import read_qrels, relevant
from tests.support.beir import write_beir
from tests.support.prepared import prepare


def random_qrels(seed, queries=200, documents=400):
    rng = random.Random(seed)
    return {
        f"q{q}": {f"d{rng.randrange(documents)}": rng.choice([0, 1, 2]) for _ in range(rng.randint(1, 4))}
        for q in range(queries)
    }


def golds(qrels, queries):
    return {document for query in queries for document in relevant(qrels, query)}


@pytest.mark.parametrize("seed", range(10))
def test_a_carved_split_shares_no_relevant_document_with_any_other(seed):
    qrels, test = random_qrels(seed), random_qrels(seed + 100, queries=20)
    leaving = carve(qrels, 0.2, seed, [test])
    staying = set(qrels) - set(leaving)
    assert 0 < len(leaving) <= 40
    assert not golds(qrels, leaving) & golds(qrels, staying)
    assert not golds(qrels, leaving) & golds(test, test)


def test_groups_are_the_connected_components():
    qrels = {"a": {"1": 1}, "b": {"1": 1, "2": 1}, "c": {"2": 1}, "d": {"2": 0, "3": 1}, "e": {"4": 0}}
    assert bound_groups(qrels) == [["a", "b", "c"], ["d"], ["e"]]


def test_carving_is_seeded_and_does_not_depend_on_the_order_of_the_qrels():
    qrels = random_qrels(3)
    assert carve(qrels, 0.1, 1, []) == carve(dict(reversed(qrels.items())), 0.1, 1, [])
    assert carve(qrels, 0.1, 1, []) != carve(qrels, 0.1, 2, [])
    assert len(carve({f"q{n}": {f"d{n}": 1} for n in range(50)}, 7, 1, [])) == 7


def test_queries_that_all_hang_together_cannot_be_split():
    with pytest.raises(UserError, match="shares a relevant document"):
        carve({f"q{n}": {"d": 1} for n in range(10)}, 0.2, 1, [])


def beir_folder(folder, corpus=None, qrels=None):
    judged = qrels or {"train": [f"q{n}\td{n}\t1" for n in range(8)], "test": ["q8\td8\t1"]}
    documents = corpus or {f"d{n}": f"text {n}" for n in range(20)}
    return write_beir(folder, documents, {f"q{n}": f"ask q{n}" for n in range(10)}, judged, heading="")


def settings(**changes):
    fixed = {"format": "beir", "splits": {}, "split_by": "queries", "drop_shared": False, "seed": 1, "strict": False}
    return fixed | changes


def test_the_prepared_layout_and_its_statistics(tmp_path):
    source = beir_folder(tmp_path / "in")
    assert prepare(source, tmp_path / "out", settings(splits={"dev": 0.25})) == []
    assert [document.id for document in read_corpus(tmp_path / "out/corpus.jsonl")] == [f"d{n}" for n in range(20)]
    parts = {split: read_qrels(tmp_path / f"out/qrels/{split}.qrels") for split in ("train", "dev", "test")}
    assert [len(part) for part in parts.values()] == [6, 2, 1]
    assert read_queries(tmp_path / "out/queries/test.jsonl") == {"q8": "ask q8"}
    counts = json.loads((tmp_path / "out/statistics.json").read_text())
    assert counts["documents"] == 20 and counts["mean_document_words"] == 2
    assert counts["splits"]["dev"] == {"queries": 2, "judgements": 2, "relevant": 2, "queries_without_relevant": 0,
                                       "judged_documents_missing": 0, "mean_query_words": 2, "carved": True, "near_duplicates": 0, "grades": "1"}  # fmt: skip


def test_a_split_that_the_data_lacks_and_nobody_asks_for_is_empty(tmp_path):
    prepare(beir_folder(tmp_path / "in"), tmp_path / "out", settings())
    assert (tmp_path / "out/qrels/dev.qrels").read_text() == (tmp_path / "out/queries/dev.jsonl").read_text() == ""


def test_odd_data_is_counted_and_under_strict_an_error_that_leaves_nothing(tmp_path):
    corpus = [{"_id": "d1", "text": "same"}, {"_id": "d2", "text": "same"}]
    source = beir_folder(tmp_path / "in", corpus, {"test": ["q1\td1\t1", "q1\tgone\t1"]})
    odd = prepare(source, tmp_path / "out", settings())
    assert odd == ["warning: test: 1 judgement names a document that the corpus lacks",
                   "1 document has the text of an earlier one"]  # fmt: skip
    with pytest.raises(UserError, match="strict: test: 1 judgement names a document"):
        prepare(source, tmp_path / "strict", settings(strict=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_there_must_be_a_train_split_to_carve_out_of(tmp_path):
    source = beir_folder(tmp_path / "in", qrels={"test": ["q1\td1\t1"]})
    with pytest.raises(UserError, match=r"splits.dev: there is no train split"):
        prepare(source, tmp_path / "out", settings(splits={"dev": 0.1}))


def test_a_local_archive_is_held_to_its_checksum(tmp_path, shared_data):
    archive = shared_data / "beir" / "scifact.zip"
    with pytest.raises(UserError, match="SHA-256 is"):
        prepare(archive, tmp_path / "out", settings(sha256="0" * 64))
    prepare(archive, tmp_path / "out", settings(splits={"dev": 0.1}))
    counts = json.loads((tmp_path / "out/statistics.json").read_text())
    assert counts["documents"] == 5183
    assert {split: part["queries"] for split, part in counts["splits"].items()} == {
        "train": 728,
        "dev": 81,
        "test": 300,
    }


def judgements(folder, content="q1 0 d1 1\nq1 0 d2 0\nq2 0 d9 2\n"):
    (folder / "robust.qrels").write_text(content)
    return folder / "robust.qrels"


def test_judgements_alone_need_no_documents(tmp_path):
    odd = prepare(judgements(tmp_path), tmp_path / "out", settings(format="qrels"))
    assert odd == []
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")) == [
        "qrels/dev.qrels", "qrels/test.qrels", "qrels/train.qrels", "statistics.json"]  # fmt: skip
    assert read_qrels(tmp_path / "out/qrels/test.qrels") == {"q1": {"d1": 1, "d2": 0}, "q2": {"d9": 2}}
    counts = json.loads((tmp_path / "out/statistics.json").read_text())
    assert counts == {"splits": {"test": {"queries": 2, "judgements": 3, "relevant": 2, "queries_without_relevant": 0,
                                          "grades": "0, 1, 2", "carved": False}}}  # fmt: skip


def test_judgements_in_a_folder_or_an_archive_are_named_by_split(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    judgements(folder)
    (folder / "dev.txt").write_text("q7 0 d1 1\n")
    for source in (folder, Path(shutil.make_archive(str(tmp_path / "packed"), "zip", folder))):
        prepare(source, tmp_path / "out", settings(format="qrels", qrels={"test": "robust.qrels", "dev": "dev.txt"}))
        assert list(read_qrels(tmp_path / "out/qrels/dev.qrels")) == ["q7"]
    with pytest.raises(UserError, match="is a folder: name its files under qrels"):
        prepare(folder, tmp_path / "none", settings(format="qrels"))


def by_document(**shares):
    return settings(splits=shares, split_by="documents")


def test_splits_by_document_take_all_queries_of_a_document_along():
    qrels = {f"q{n}": {f"d{n // 3}": 1} for n in range(60)} | {"two": {"d0": 1, "d1": 1}, "none": {"d2": 0}}
    leaving = carve_by_document(qrels, {"test": 0.25, "dev": 4}, 1)
    parts = {split: golds(qrels, queries) for split, queries in leaving.items()}
    assert {split: len(documents) for split, documents in parts.items()} == {"test": 5, "dev": 4}
    staying = set(qrels) - set(leaving["test"]) - set(leaving["dev"])
    assert {"two", "none", "q0", "q1", "q2", "q3"} <= staying
    assert not parts["test"] & parts["dev"] and not golds(qrels, staying) & (parts["test"] | parts["dev"])
    assert len(leaving["test"]) == 15 and len(leaving["dev"]) == 12
    assert carve_by_document(dict(reversed(qrels.items())), {"test": 0.25, "dev": 4}, 1) == leaving
    assert carve_by_document(qrels, {"test": 0.25, "dev": 4}, 2) != leaving


def test_splits_by_document_that_cannot_be():
    tied = {f"q{n}": {f"d{n}": 1, f"d{n + 1}": 1} for n in range(10)}
    with pytest.raises(UserError, match=r"test: 0\.2 of 11 relevant documents cannot be split off: 11 stay in train"):
        carve_by_document(tied, {"test": 0.2}, 1)
    with pytest.raises(UserError, match="leave no document for train"):
        carve_by_document({f"q{n}": {f"d{n}": 1} for n in range(4)}, {"test": 0.5, "dev": 0.5}, 1)


def test_splits_by_document_are_for_data_without_splits(tmp_path):
    with pytest.raises(UserError, match="split_by: documents is for data without splits"):
        prepare(beir_folder(tmp_path / "in"), tmp_path / "out", by_document(dev=0.2))


def test_training_queries_that_share_a_relevant_document_with_test_can_be_left_out(tmp_path):
    qrels = {"train": [f"q{n}\td{n % 3}\t1" for n in range(8)], "test": ["q8\td1\t1"]}
    source = beir_folder(tmp_path / "in", qrels=qrels)
    prepare(source, tmp_path / "out", settings(drop_shared=True))
    assert set(read_qrels(tmp_path / "out/qrels/train.qrels")) == {"q0", "q2", "q3", "q5", "q6"}
    assert set(read_queries(tmp_path / "out/queries/train.jsonl")) == {"q0", "q2", "q3", "q5", "q6"}
    assert json.loads((tmp_path / "out/statistics.json").read_text())["splits"]["train"]["left_out"] == 3
    source = beir_folder(tmp_path / "all", qrels={"train": ["q0\td1\t1"], "test": ["q8\td1\t1"]})
    with pytest.raises(UserError, match="drop_shared: every training query shares a relevant document"):
        prepare(source, tmp_path / "none", settings(drop_shared=True))


def test_a_corpus_that_is_shared_must_be_the_same(tmp_path):
    prepare(beir_folder(tmp_path / "one"), tmp_path / "owner", settings())
    prepare(tmp_path / "one", tmp_path / "out", settings(), tmp_path / "owner/corpus.jsonl")
    assert not (tmp_path / "out/corpus.jsonl").exists()
    assert json.loads((tmp_path / "out/statistics.json").read_text())["documents"] == 20
    other = [{"_id": f"d{n}", "title": "", "text": f"text {n}" if n < 19 else "new"} for n in range(20)]
    longer = [*other[:19], {"_id": "d19", "text": "text 19"}, {"_id": "d20", "text": "more"}]
    for corpus, name in ((other, "d19"), (other[:19], "d19"), (longer, "d20")):
        source = beir_folder(tmp_path / f"other{len(corpus)}", corpus)
        with pytest.raises(UserError, match=f"not those of the corpus it is to share, .*: see document {name}"):
            prepare(source, tmp_path / "not", settings(), tmp_path / "owner/corpus.jsonl")
