"""Further texts of documents: which are appended, which lines are refused, and what first stages report of them."""

import gzip
import io
import json

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import describe
from ranktrial.ir.collection import Document, read_corpus, write_corpus
from scripts.bm25 import index as index_script
from scripts.bm25 import planning
from tests.experiment.test_config import resolved
from tests.support.calling import call
from tests.support.one_line import refused

DOCUMENTS = [Document("a", "Title", "own"), Document("b", "", ""), Document("c", "T", "of c")]
LINES = [
    {"id": "c", "predicted_queries": ["what is  c", "who\nis c"]},
    {"id": "a", "text": "first"},
    {"id": "b", "text": "é 1"},
    {"id": "a", "text": "second"},
]


@pytest.fixture
def corpus(tmp_path):
    write_corpus(tmp_path / "corpus.jsonl", DOCUMENTS)
    return tmp_path / "corpus.jsonl"


def append(corpus, file):
    made = corpus.parent / "appended.jsonl"
    call(index_script.append_texts, {}, corpus=corpus, texts=file, appended=made)
    return list(read_corpus(made))


@pytest.mark.parametrize("zipped", [False, True])
def test_further_texts_stand_behind_a_documents_own_in_the_order_of_the_file(corpus, tmp_path, zipped):
    file = tmp_path / ("further.jsonl.gz" if zipped else "further.jsonl")
    text = "\r\n\r\n".join(map(json.dumps, LINES)).encode()
    file.write_bytes(gzip.compress(text) if zipped else b"\xef\xbb\xbf" + text)
    assert append(corpus, file) == [
        Document("a", "Title", "own first second"),
        Document("b", "", "é 1"),
        Document("c", "T", "of c what is c who is c"),
    ]


def test_a_document_without_further_text_stays_as_it_is(corpus, tmp_path):
    (tmp_path / "further.jsonl").write_text('{"id": "b", "text": "x"}\n{"id": "a", "predicted_queries": []}\n')
    assert append(corpus, tmp_path / "further.jsonl") == [DOCUMENTS[0], Document("b", "", "x"), DOCUMENTS[2]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "z", "text": "x"}', ":2: there is no document 'z' in the corpus"),
        ('{"id": "a"}', ":2: expected {"),
        ('{"id": 1, "text": "x"}', ":2: expected {"),
        ('{"id": "a", "predicted_queries": "x"}', ":2: expected {"),
        ('{"id": "a", "text": "x", "predicted_queries": ["x"]}', ":2: expected {"),
        ('["a", "x"]', ":2: expected a JSON object"),
    ],
)
def test_a_line_that_is_wrong_is_named_and_nothing_is_written(tmp_path, line, message):
    file = tmp_path / "further.jsonl"
    file.write_text('{"id": "b", "text": "x"}\n' + line + "\n")
    with refused(start=f"{file}{message}"):
        index_script.gather(file, {"a", "b", "c"}, io.BytesIO())


def test_a_file_without_any_text_is_refused(tmp_path):
    (tmp_path / "further.jsonl").write_text('{"id": "b", "text": " "}\n')
    with pytest.raises(UserError, match="contains no text to append; expected"):
        index_script.gather(tmp_path / "further.jsonl", {"b"}, io.BytesIO())


def expanded(file, **systems):
    own = {"plain": {"type": "bm25"}, "long": {"type": "bm25", "texts": "appended"}}
    with_texts = {"format": "beir", "location": "docs", "texts": {"append": str(file)}}
    changes = {"datasets/d": with_texts, "tasks": ["d"], "systems": own | systems, "comparisons": {}}
    return resolved(changes)


@pytest.fixture
def further(tmp_path):
    (tmp_path / "further.jsonl").write_text('{"id": "b", "text": "x"}\n')
    return tmp_path / "further.jsonl"


def test_systems_choose_whether_further_texts_are_indexed(further):
    tuned = {"type": "query-likelihood", "texts": "appended", "tune": True}
    fed_back = {"type": "bm25", "texts": "appended", "feedback": "rm3"}
    experiment = expanded(further, tuned=tuned | {"tasks": ["d"], "tune": False}, rm3=fed_back)
    assert {name: planning.index_of_task(experiment, name, "d") for name in experiment.systems} == {
        "plain": "results/e/bm25/d/index",
        "long": "results/e/bm25/d/index-english-together-appended",
        "tuned": "results/e/bm25/d/index-english-together-appended",
        "rm3": "results/e/bm25/d/index-english-together-vectors-appended",
    }
    assert planning.index_settings("-english-together-appended") == planning.index_settings("")
    assert planning.index_settings("-english-together-vectors-appended")["vectors"] is True
    assert planning.indexed(experiment, "d", "-english-together-appended") == "results/e/bm25/d/appended.jsonl"
    assert planning.indexed(experiment, "d", "") == "results/e/data/d/corpus.jsonl"
    settings = [planning.search_settings(experiment, name, "d") for name in ("plain", "long")]
    assert settings[0] | {"tag": "long"} == settings[1]
    assert "texts" not in planning.tuning_settings(experiment, "long", "d")
    assert "texts appended" in describe(experiment, experiment.systems["long"])
    assert "appended" not in describe(experiment, experiment.systems["plain"])


def test_own_texts_change_nothing(further):
    experiment = expanded(further, named={"type": "bm25", "texts": "own"})
    assert experiment.systems["named"].settings == experiment.systems["plain"].settings


@pytest.mark.parametrize(
    ("dataset", "system", "message"),
    [
        ({"texts": {"append": "nowhere.jsonl"}}, {}, "datasets.d.texts.append: no file 'nowhere.jsonl' here"),
        ({}, {"texts": "appended"}, "systems.s.texts: dataset d names no texts to append"),
        (
            {"texts": {"append": "README.md"}},
            {"texts": "appended", "engine": "elasticsearch", "url": "http://localhost"},
            "systems.s.texts: appended is not together with engine: elasticsearch",
        ),
    ],
)
def test_what_cannot_be_appended_is_refused_before_anything_runs(dataset, system, message):
    changes = {
        "datasets/d": {"format": "beir", "location": "docs", **dataset},
        "tasks": ["d"], "systems": {"s": {"type": "bm25", **system}}, "comparisons": {},
    }  # fmt: skip
    with refused(message):
        resolved(changes)


def test_a_shared_corpus_has_its_owners_texts(further):
    changes = {
        "datasets/d": {"format": "beir", "location": "docs", "texts": {"append": str(further)}},
        "datasets/more": {"format": "beir", "location": "tests", "corpus": "d"},
        "tasks": ["more"], "systems": {"s": {"type": "bm25", "texts": "appended"}}, "comparisons": {},
    }  # fmt: skip
    experiment = resolved(changes)
    assert planning.index_of_task(experiment, "s", "more") == "results/e/bm25/d/index-english-together-appended"
    with pytest.raises(UserError, match=r"datasets\.more\.texts: not together with corpus"):
        resolved(changes | {"datasets/more": changes["datasets/more"] | {"texts": {"append": "x"}}})
