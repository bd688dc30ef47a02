"""Samples of dev and test, and training queries without judgements, in prepared data."""

import json
import subprocess

import pytest

from ranktrial.common.errors import UserError
from ranktrial.datasets.splits import sample
from ranktrial.ir.collection import read_queries
from ranktrial.ir.trec import read_qrels
from tests.datasets.test_prepare import beir_folder, settings
from tests.support.prepared import prepare

NAMES = [f"q{n}" for n in range(1000)]


def test_a_sample_depends_on_the_ids_and_not_on_their_order():
    drawn = sample(NAMES, 100, 1, "test")
    assert len(drawn) == len(set(drawn)) == 100
    assert set(sample(NAMES[::-1], 100, 1, "test")) == set(drawn)
    assert drawn == [name for name in NAMES if name in set(drawn)]  # in the order of the data
    assert set(sample(NAMES, 40, 1, "test")) < set(drawn)


def test_a_sample_is_that_of_sha256():
    """By sha256sum: of a, b and c with seed 3 and split dev, the smallest sum is whose line sorts first."""
    sums = {}
    for name in "abc":
        text = f"3\tdev\t{name}".encode()
        sums[name] = subprocess.run(["sha256sum"], input=text, capture_output=True, check=True).stdout
    assert sample(["a", "b", "c"], 1, 3, "dev") == [min(sums, key=sums.get)]


def test_seeds_and_splits_have_samples_of_their_own():
    drawn = [set(sample(NAMES, 100, seed, split)) for seed in (1, 2) for split in ("dev", "test")]
    assert all(5 < len(first & second) < 25 for first in drawn for second in drawn if first is not second)  # about 10


def test_a_sample_has_the_size_of_the_split_at_most():
    assert sample(["a", "b"], 2, 1, "test") == ["a", "b"]
    with pytest.raises(UserError, match="test_queries: 3, but test has 2 judged queries"):
        sample(["a", "b"], 3, 1, "test")


def test_prepared_samples_and_their_statistics(tmp_path):
    lines = {"train": ["q9\td9\t1"], "dev": [f"q{n}\td{n}\t1" for n in range(4)],
             "test": [f"q{n}\td{n}\t{n % 2}" for n in range(4, 9)]}  # fmt: skip
    source = beir_folder(tmp_path / "in", qrels=lines)
    prepare(source, tmp_path / "out", settings(test_queries=3, dev_queries=2))
    for split, size, whole in (("dev", 2, 4), ("test", 3, 5)):
        qrels = read_qrels(tmp_path / f"out/qrels/{split}.qrels")
        assert len(qrels) == size and list(read_queries(tmp_path / f"out/queries/{split}.jsonl")) == list(qrels)
        part = json.loads((tmp_path / "out/statistics.json").read_text())["splits"][split]
        assert (part["queries"], part["sampled_from"]) == (size, whole)
    with pytest.raises(UserError, match="dev_queries: 5, but dev has 4 judged queries"):
        prepare(source, tmp_path / "other", settings(dev_queries=5))


def test_a_carved_split_can_be_sampled(tmp_path):
    source = beir_folder(tmp_path / "in")
    prepare(source, tmp_path / "whole", settings(splits={"dev": 4}))
    prepare(source, tmp_path / "out", settings(splits={"dev": 4}, dev_queries=2))
    whole, drawn = (read_qrels(tmp_path / name / "qrels/dev.qrels") for name in ("whole", "out"))
    assert len(whole) == 4 and len(drawn) == 2 and set(drawn) < set(whole)
    trains = [(tmp_path / name / "qrels/train.qrels").read_bytes() for name in ("whole", "out")]
    assert trains[0] == trains[1]


def test_without_a_sample_nothing_is_said_of_one(tmp_path):
    prepare(beir_folder(tmp_path / "in"), tmp_path / "out", settings())
    parts = json.loads((tmp_path / "out/statistics.json").read_text())["splits"].values()
    assert all("sampled_from" not in part and "unjudged" not in part for part in parts)


@pytest.mark.parametrize("qrels", [{"test": ["q8\td8\t1"]}, {"train": ["q0\td0\t1"], "test": ["q8\td8\t1"]}])
def test_queries_of_beir_that_no_file_judges_are_training_queries_where_the_key_says_so(tmp_path, qrels):
    source = beir_folder(tmp_path / "in", qrels=qrels)
    prepare(source, tmp_path / "out", settings(unjudged="train"))
    assert set(read_queries(tmp_path / "out/queries/train.jsonl")) == {f"q{n}" for n in range(10)} - {"q8"}
    assert len(read_qrels(tmp_path / "out/qrels/train.qrels")) == len(qrels) - 1
    train = json.loads((tmp_path / "out/statistics.json").read_text())["splits"]["train"]
    assert (train["queries"], train["unjudged"]) == (len(qrels) - 1, 9 - train["queries"])
    prepare(source, tmp_path / "without", settings())
    assert len(read_queries(tmp_path / "without/queries/train.jsonl")) == len(qrels) - 1


def test_they_are_test_queries_for_a_model_to_judge_where_the_key_says_so_also_beside_a_sample(tmp_path):
    source = beir_folder(tmp_path / "in", qrels={"train": ["q0\td0\t1"], "test": ["q7\td7\t1", "q8\td8\t1"]})
    for changes, judged in (({}, 2), ({"test_queries": 1}, 1)):
        prepare(source, tmp_path / f"out{judged}", settings(unjudged="test", **changes))
        qrels = read_qrels(tmp_path / f"out{judged}/qrels/test.qrels")
        queries = set(read_queries(tmp_path / f"out{judged}/queries/test.jsonl"))
        assert len(qrels) == judged and queries == {f"q{n}" for n in range(1, 7)} | {"q9"} | set(qrels)
        counts = json.loads((tmp_path / f"out{judged}/statistics.json").read_text())["splits"]["test"]
        assert (counts["queries"], counts["unjudged"]) == (judged, 7)


def test_a_query_in_the_words_of_a_tested_one_is_not_learnt_from(tmp_path):
    source = beir_folder(tmp_path / "in", qrels={"test": ["q8\td8\t1"]})
    with open(source / "queries.jsonl", "a") as file:
        file.write('{"_id": "twin", "text": "ask q8"}\n')
    prepare(source, tmp_path / "out", settings(unjudged="train", test_queries=1))
    assert "twin" not in read_queries(tmp_path / "out/queries/train.jsonl")


def test_no_query_without_judgements_is_refused(tmp_path):
    source = beir_folder(tmp_path / "in", qrels={"test": [f"q{n}\td{n}\t1" for n in range(10)]})
    with pytest.raises(UserError, match="unjudged: there is no query without judgements"):
        prepare(source, tmp_path / "out", settings(unjudged="train"))


def trec_folder(folder, **qrels):
    folder.mkdir()
    (folder / "docs.jsonl").write_text("".join(f'{{"id": "d{n}", "text": "text {n}"}}\n' for n in range(6)))
    (folder / "train.tsv").write_text("".join(f"q{n}\task {n}\n" for n in range(4)))
    (folder / "test.tsv").write_text("t0\twho\n")
    for split, lines in qrels.items():
        (folder / f"{split}.qrels").write_text("".join(f"{line}\n" for line in lines))
    topics = {"train": "train.tsv", "test": "test.tsv"}
    return {"format": "trec", "seed": 1, "documents": ["docs.jsonl"], "topics": topics,
            "qrels": {split: f"{split}.qrels" for split in qrels}}  # fmt: skip


def test_topics_of_train_without_qrels_are_training_queries(tmp_path):
    entry = trec_folder(tmp_path / "in", test=["t0 0 d0 1"])
    prepare(tmp_path / "in", tmp_path / "out", entry)
    assert list(read_queries(tmp_path / "out/queries/train.jsonl")) == ["q0", "q1", "q2", "q3"]
    assert read_qrels(tmp_path / "out/qrels/train.qrels") == {}
    with pytest.raises(UserError, match=r"splits\.dev: there is no judged query in train to carve it out of"):
        prepare(tmp_path / "in", tmp_path / "carved", entry | {"splits": {"dev": 2}})


def test_topics_of_test_that_nobody_judged_are_its_queries_for_a_model_to_judge(tmp_path):
    """As of TREC's deep learning track, which gives 200 topics and judges some fifty; none is taken from train."""
    entry = trec_folder(tmp_path / "in", train=["q0 0 d0 1"], test=["t0 0 d0 1"]) | {"unjudged": "test"}
    with (tmp_path / "in/test.tsv").open("a") as topics:
        topics.write("t1\tnobody judged\nt2\task 0\n")  # t2 in the words of a training query
    prepare(tmp_path / "in", tmp_path / "out", entry)
    train, test = (list(read_queries(tmp_path / f"out/queries/{split}.jsonl")) for split in ("train", "test"))
    assert (train, test) == (["q0"], ["t0", "t1"])
    assert json.loads((tmp_path / "out/statistics.json").read_text())["splits"]["test"]["unjudged"] == 1


def test_dev_is_carved_out_of_the_judged_training_queries_and_the_others_stay(tmp_path):
    judged = [f"q{n} 0 d{n} 1" for n in range(3)]
    entry = trec_folder(tmp_path / "in", train=judged, test=["t0 0 d5 1"])
    prepare(tmp_path / "in", tmp_path / "out", entry | {"splits": {"dev": 1}, "unjudged": "train"})
    train, dev = (read_queries(tmp_path / f"out/queries/{split}.jsonl") for split in ("train", "dev"))
    assert len(dev) == 1 and "q3" in train and set(train) | set(dev) == {"q0", "q1", "q2", "q3"}
    prepare(tmp_path / "in", tmp_path / "plain", entry)
    assert "q3" not in read_queries(tmp_path / "plain/queries/train.jsonl")
