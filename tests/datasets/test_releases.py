"""SciFact and NFCorpus as their authors release them: the repacked collections come back, broken files are one line."""

import json
import zipfile

import pytest

from ranktrial.datasets.formats import beir, nfcorpus, scifact
from tests.datasets.test_claims import write
from tests.support.one_line import refused

SCIFACT = {
    "data/corpus.jsonl": '{"doc_id": 4, "title": "T", "abstract": ["One.", "Two."], "structured": false}\n',
    "data/claims_train.jsonl": '{"id": 1, "claim": "it is", "evidence": {}, "cited_doc_ids": [4]}\n',
    "data/claims_dev.jsonl": '{"id": 2, "claim": "is it", "evidence": {}, "cited_doc_ids": [4]}\n',
}
NFCORPUS = {
    **{f"nfcorpus/{split}.docs": "MED-1\tnum fish\nMED-2\toil\n" for split in ("train", "dev", "test")},
    **{f"nfcorpus/{split}.titles.queries": f"{split}-1\tWhy?\n" for split in ("train", "dev", "test")},
    **{f"nfcorpus/{split}.3-2-1.qrel": f"{split}-1\t0\tMED-1\t3\n" for split in ("train", "dev", "test")},
}


def repacked(archive, folder):
    """A repacked collection, its documents in a list."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    read = beir.read(folder, beir.Options())
    return read._replace(documents=list(read.documents))


def same(read, expected):
    assert list(read.documents) == list(expected.documents)
    assert (read.queries, read.qrels) == (expected.queries, expected.qrels)


def test_scifact_comes_back_from_the_authors_layout(tmp_path, shared_data):
    packed = repacked(shared_data / "beir/scifact.zip", tmp_path / "beir")
    documents = [
        {"doc_id": int(one.id), "title": one.title, "abstract": one.text.split(" ")} for one in packed.documents
    ]
    claims = {
        split: [
            {"id": int(query), "claim": text, "cited_doc_ids": list(map(int, packed.qrels[split][query]))}
            for query, text in packed.queries[split].items()
        ]
        for split in ("train", "test")
    }
    parts = {"corpus": documents, "claims_train": claims["train"], "claims_dev": claims["test"]}
    files = {f"data/{name}.jsonl": "".join(json.dumps(row) + "\n" for row in rows) for name, rows in parts.items()}
    same(scifact.read(write(tmp_path / "release", files), scifact.Options()), packed)


def test_nfcorpus_comes_back_from_the_authors_layout(tmp_path, shared_data):
    """dev.docs has 3,193 documents; grades are one higher, and those of the same topic (1) are no judgements."""
    packed = repacked(shared_data / "beir/nfcorpus.zip", tmp_path / "beir")
    rows = [f"{one.id}\t{one.text}\n" for one in packed.documents]
    files = {"dev.docs": "".join(rows[:3193]), "test.docs": "".join(rows[50:]), "train.docs": "MED-1\tnum\n"}
    for split, qrels in packed.qrels.items():
        files[f"{split}.titles.queries"] = "".join(f"{q}\t{text}\n" for q, text in packed.queries[split].items())
        graded = [(q, doc, grade + 1) for q, of_query in qrels.items() for doc, grade in of_query.items()]
        others = [(q, doc, 2 if doc == "MED-1" else 1) for q in qrels for doc in ("MED-1", "MED-none")]
        files[f"{split}.3-2-1.qrel"] = "".join(f"{q}\t0\t{doc}\t{grade}\n" for q, doc, grade in [*graded, *others])
    folder = write(tmp_path / "release", {f"nfcorpus/{name}": text for name, text in files.items()})
    same(nfcorpus.read(folder, nfcorpus.Options(documents_of=["dev", "test"])), packed)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("corpus", '{"doc_id": 4, "title": "T", "abstract": "One."}\n', "corpus.jsonl:1: abstract is no list"),
        ("claims_dev", '{"id": 2, "claim": "x", "cited_doc_ids": "4"}\n', "claims_dev.jsonl:1: cited_doc_ids is no list"),
        ("claims_dev", '{"id": 2, "claim": "", "cited_doc_ids": [4]}\n', "query 2 is judged but has no text"),
        ("claims_train", 2 * '{"id": 1, "claim": "x", "cited_doc_ids": [4]}\n', ":2: duplicate claim id 1"),
    ],
)  # fmt: skip
def test_broken_files_of_scifact_are_one_line(tmp_path, name, text, said):
    folder = write(tmp_path, SCIFACT | {f"data/{name}.jsonl": text})
    with refused(said):
        list(scifact.read(folder, scifact.Options()).documents)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("test.docs", "MED-1\tother\n", "test.docs: document MED-1 has another text than in a file before"),
        ("dev.3-2-1.qrel", "dev-1\t0\tMED-1\t1\n", "dev.3-2-1.qrel: no judged query"),
        ("train.titles.queries", "train-2\tWhy?\n", "query train-1 is judged but has no text"),
    ],
)
def test_broken_files_of_nfcorpus_are_one_line(tmp_path, name, text, said):
    with refused(said):
        nfcorpus.read(write(tmp_path, NFCORPUS | {f"nfcorpus/{name}": text}), nfcorpus.Options())
