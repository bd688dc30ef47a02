"""A collection in TREC's formats, packed as a zip, and a recipe that goes on from one trained with pseudo-labels."""

import json
import zipfile

import pandas as pd
import pytest

from ranktrial.ir.trec import read_qrels
from tests.workflow.conftest import tiny_config


def write_trec(source, archive):
    """The BEIR folder `source` as TREC documents, topics and qrels (train and test) in a zip."""
    documents = [json.loads(line) for line in (source / "corpus.jsonl").read_text().splitlines()]
    queries = {one["_id"]: one["text"] for one in map(json.loads, (source / "queries.jsonl").read_text().splitlines())}
    with zipfile.ZipFile(archive, "w") as packed:
        markup = "<DOC>\n<DOCNO>{_id}</DOCNO>\n<TEXT>{text}</TEXT>\n</DOC>\n"
        packed.writestr("docs.sgml", "".join(markup.format(**one) for one in documents))
        for split in ("train", "test"):
            rows = [line.split() for line in (source / "qrels" / f"{split}.tsv").read_text().splitlines()[1:]]
            topic = "<top>\n<num> Number: {}\n<title> {}\n</top>\n"
            packed.writestr(f"{split}.topics", "".join(topic.format(query, queries[query]) for query, _, _ in rows))
            packed.writestr(f"{split}.qrels", "".join(f"{query} 0 {document} {g}\n" for query, document, g in rows))


@pytest.fixture
def results(fresh):
    write_trec(fresh.folder / "data/weather", fresh.folder / "data/trec.zip")
    files = {kind: {split: f"{split}.{kind}" for split in ("train", "test")} for kind in ("topics", "qrels")}
    schedule = {"train_on": "trec", "batch_size": 8, "learning_rate": 0.001, "epochs": 1}
    config = tiny_config() | {
        "datasets": {
            "trec": {"format": "trec", "location": "data/trec.zip", "documents": ["*.sgml"], "splits": {"dev": 0.2}}
            | files
        },
        "recipes": {
            "pseudo": schedule | {"labels": "bm25"},
            "few": schedule | {"queries": 16, "start_from": "pseudo", "loss": "TripletLoss"},
        },
        "systems": {"bm25": {"type": "bm25", "tune": True}, "few": {"model": "bert", "recipe": "few", "seeds": [3]}},
        "tasks": ["trec"],
        "comparisons": {"few": {"control": "bm25", "treatment": "few"}},
    }
    fresh.write_config(config)
    fresh.run("results/tiny/meta/few.json")
    return fresh.folder / "results/tiny"


@pytest.mark.long
def test_a_chain_of_recipes_from_trec_files(results):
    sizes = {split: len(read_qrels(results / f"data/trec/qrels/{split}.qrels")) for split in ("train", "dev", "test")}
    assert sizes == {"train": 24, "dev": 6, "test": 15}
    pseudo = pd.read_csv(results / "negatives/trec/bm25-labels_3-bm25-negatives_all-queries.tsv", sep="\t")
    few = pd.read_csv(results / "negatives/trec/human-labels_3-bm25-negatives_16-queries.tsv", sep="\t")
    assert pseudo["query_id"].nunique() == 24 and few["query_id"].nunique() == 16
    train = read_qrels(results / "data/trec/qrels/train.qrels")
    assert all(row.positive_id in train[row.query_id] for row in few.itertuples())
    # a pseudo-label is BM25's first document, which is not always the relevant one
    assert not all(row.positive_id in train[row.query_id] for row in pseudo.itertuples())
    weights = {
        recipe: (results / f"models/bert/{recipe}/model.safetensors").read_bytes()
        for recipe in ("untrained/seed-0", "pseudo/seed-3", "few/seed-3")
    }
    assert len(set(weights.values())) == 3
    assert json.loads((results / "meta/few.json").read_text())["k"] == 1
