"""An index that is built in parts: the same for any number of threads, and runs are those of one that is in one part."""

import random
import shutil

import pytest

from scripts.bm25 import index as index_script
from scripts.bm25 import parts
from scripts.bm25.count_terms import document_ids, open_reader
from scripts.bm25.feedback import feed_back
from scripts.bm25.fields import PYSERINI, open_index
from scripts.common.errors import UserError
from scripts.ir.collection import Document, write_corpus
from tests.bm25.test_first_stages import RM3, ROCCHIO

DOCUMENTS = 3000
BLANKS = ["", " ", "\u00a0", "\x01", "\x01 \x1f"]  # without a word; Java and Python differ in which of them are blank


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Documents of few words, so that many have the same score, in an order that is not that of their ids."""
    chance = random.Random(5)
    ids = chance.sample(range(10 * DOCUMENTS), DOCUMENTS)
    documents = [
        Document(f'd"{name}\u2028é', f"w{chance.randrange(9)}", "\n".join(f"w{chance.randrange(40)}" for _ in range(6)))
        for name in ids
    ]
    for place, text in enumerate(BLANKS):
        documents[place * 700] = Document(f"blank{place}", "", text)
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    write_corpus(path, documents)
    return path


@pytest.fixture(scope="module")
def queries():
    return {f"q{number}": f"w{number} w{2 * number} w{3 * number % 40}" for number in range(20)}


def built(folder, corpus, monkeypatch, smallest, threads, **how):
    """An index of parts of at least so many documents, by so many threads, and what `index` counted."""
    monkeypatch.setattr(parts, "SMALLEST", smallest)
    monkeypatch.setattr(index_script, "CHUNK", 100)
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
    counted = index_script.index(corpus, folder, PYSERINI | how)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]  # no part is left
    return folder, counted


def segments(folder):
    """The bytes of an index's segments, but for the random id of each and the check sum at a file's end."""
    contents = {}
    for path in folder.glob("_*"):
        data = path.read_bytes()
        start = 5 + data[4] + 4  # magic number, length and name of the codec, version
        contents[path.name] = data.replace(data[start : start + 16], b"")[:-8]
    return {name: data for name, data in contents.items() if not name.endswith(".si")}  # this one has the time


def test_how_many_parts_there_are_depends_on_the_documents_alone():
    counts = {total: len(parts.cut(total)) for total in (1, 99_999, 100_000, 300_000, 400_000, 10_000_000)}
    assert counts == {1: 1, 99_999: 1, 100_000: 2, 300_000: 4, 400_000: 8, 10_000_000: 8}
    for total in (100_001, 1_234_567):
        cut = parts.cut(total)
        assert [first for first, _ in cut] == [0, *(last for _, last in cut[:-1])] and cut[-1][1] == total


@pytest.mark.parametrize(
    ("how", "feedback"),
    [({}, {}), ({"vectors": True}, {"rm3": RM3}), ({"vectors": True}, {"rocchio": ROCCHIO}), ({"analyzer": "de"}, {})],
    ids=["plain", "rm3", "rocchio", "German"],
)
def test_runs_are_those_of_one_part(corpus, queries, tmp_path, monkeypatch, how, feedback):
    runs, orders, counts = [], [], []
    for name, smallest, threads in (("one", 50_000, 2), ("one thread", 100, 1), ("two", 100, 2), ("three", 100, 3)):
        folder, counted = built(tmp_path / name / "index", corpus, monkeypatch, smallest, threads, **how)
        searcher = open_index(folder, analyzer=how.get("analyzer", "english"))
        feed_back(searcher, feedback)
        runs.append({query: list(found.items()) for query, found in searcher.batch(queries, 50).items()})
        orders.append(document_ids(open_reader(folder)))
        counts.append(counted)
    assert runs[0] == runs[1] == runs[2] == runs[3] and all(runs[0].values())
    assert orders[0] == orders[1] == orders[2] == orders[3]
    assert set(counts) == {(DOCUMENTS, len(orders[0]))} and counts[0][1] < DOCUMENTS
    one, two = (segments(tmp_path / name / "index") for name in ("one thread", "two"))
    assert one == two and len([name for name in one if name.endswith(".fdt")]) == 8


def test_documents_of_fields_are_one_part(corpus, queries, tmp_path, monkeypatch):
    how = {"analyzer": "standard", "fields": "best"}
    runs = []
    for name, smallest in (("one", 50_000), ("parts", 100)):
        folder, _ = built(tmp_path / name / "index", corpus, monkeypatch, smallest, 2, **how)
        runs.append(open_index(folder, **how).batch(queries, 50))
    assert {query: list(found.items()) for query, found in runs[0].items()} == {
        query: list(found.items()) for query, found in runs[1].items()
    }


def test_a_part_without_text_is_no_obstacle_and_no_text_at_all_a_mistake(tmp_path, monkeypatch):
    documents = [Document(f"d{number}", "", "word" if number >= 300 else " ") for number in range(400)]
    for name, given in (("some", documents), ("none", documents[:300])):
        (tmp_path / name).mkdir()
        write_corpus(tmp_path / f"{name}.jsonl", given)
    folder, counted = built(tmp_path / "some" / "index", tmp_path / "some.jsonl", monkeypatch, 100, 2)
    assert counted == (400, 100) and len(open_index(folder).search("word", 1000)) == 100
    with pytest.raises(UserError, match=r"no document has any text"):
        built(tmp_path / "none" / "index", tmp_path / "none.jsonl", monkeypatch, 100, 2)
    assert not list((tmp_path / "none").iterdir())


@pytest.mark.parametrize("when", ["add", "close"])
def test_parts_that_cannot_be_written_are_one_line_and_leave_nothing(corpus, tmp_path, monkeypatch, when):
    """As on a full disk: the folders that Lucene writes into go away under its hands."""
    method, calls = getattr(parts.PartsIndexer, when), []

    def without_folders(indexer, *arguments):
        calls.append(1)
        if when == "close" or len(calls) == 2:
            for part in indexer.parts:
                shutil.rmtree(part.folder)
        return method(indexer, *arguments)

    monkeypatch.setattr(parts.PartsIndexer, when, without_folders)
    with pytest.raises(UserError, match=r"^[^\n]*: the index cannot be written[^\n]*$"):
        built(tmp_path / "index", corpus, monkeypatch, 100, 2)
    assert not list(tmp_path.iterdir())
