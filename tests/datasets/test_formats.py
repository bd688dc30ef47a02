"""The dataset formats: what each reader takes, and what it says of broken files."""

import gzip
import json
from dataclasses import replace

import pyarrow
import pytest

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import beir, insuranceqa, trec
from ranktrial.ir.collection import Document
from tests.support.broken import write
from tests.support.one_line import refused

BEIR = {
    "x/corpus.jsonl": '{"_id": "d1", "title": "T", "text": "one"}\n{"_id": 2, "text": "two"}\n',
    "x/queries.jsonl": '{"_id": "q1", "text": "first"}\n{"_id": "q2", "text": "second"}\n',
    "x/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\td1\t2\nq1\t2\t0\n",
}


def test_beir(tmp_path):
    collection = beir.read(write(tmp_path, BEIR), beir.Options())
    assert list(collection.documents) == [Document("d1", "T", "one"), Document("2", "", "two")]
    assert collection.qrels == {"test": {"q2": {"d1": 2}, "q1": {"2": 0}}}
    assert collection.queries == {"test": {"q2": "second", "q1": "first"}}


def by_zstd(text):
    return pyarrow.compress(text.encode(), "zstd", asbytes=True)


@pytest.mark.parametrize("named", [True, False], ids=["named", "under the plain name"])
@pytest.mark.parametrize(("ending", "pack"), [(".gz", lambda text: gzip.compress(text.encode())), (".zst", by_zstd)])
def test_beir_is_read_packed_too(tmp_path, ending, pack, named):
    plain = beir.read(write(tmp_path / "plain", BEIR), beir.Options())
    for name, text in BEIR.items():
        file = tmp_path / "packed" / (name + ending if named else name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pack(text))
    packed = beir.read(tmp_path / "packed", beir.Options())
    assert list(packed.documents) == list(plain.documents) and packed[1:] == plain[1:]


def test_a_corpus_that_is_cut_off_is_no_shorter_corpus(tmp_path):
    write(tmp_path, {name: text for name, text in BEIR.items() if "corpus" not in name})
    documents = "".join(f'{{"_id": "d{n}", "text": "{n * 7919}"}}\n' for n in range(5000))
    (tmp_path / "x/corpus.jsonl.zst").write_bytes(by_zstd(documents)[:-1])
    with pytest.raises(UserError, match=r"corpus\.jsonl\.zst:\d+: damaged zstd file \(Compressed file ended"):
        list(beir.read(tmp_path, beir.Options()).documents)


def test_of_a_plain_and_a_packed_file_none_is_taken(tmp_path):
    write(tmp_path, BEIR | {"x/corpus.jsonl.zst": "{}"})
    with pytest.raises(UserError, match=r"x: corpus\.jsonl and corpus\.jsonl\.zst are both there; expected one"):
        beir.read(tmp_path, beir.Options())
    write(tmp_path, {"y/corpus.jsonl.gz": ""})
    with pytest.raises(UserError, match=r"corpus\.jsonl lies in several folders: x, y"):
        beir.read(tmp_path, beir.Options())


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("x/queries.jsonl", '{"_id": "q1", "text": "a"}\n' * 2, "queries.jsonl:2: duplicate query id q1"),
        ("x/queries.jsonl", '{"_id": "q1", "text": "a"}\n', "test.tsv: query q2 is judged but has no text"),
        ("x/qrels/test.tsv", "q1\td1\n", "test.tsv:1: 2 columns, but a file of judgements has TREC's 4"),
        ("x/qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "test.tsv: no judged query"),
    ],
)
def test_broken_beir_files_are_refused_with_file_and_line(tmp_path, file, content, said):
    write(tmp_path, BEIR | {file: content})
    with refused(said):
        list(beir.read(tmp_path, beir.Options()).documents)


def test_beir_without_any_qrels(tmp_path):
    write(tmp_path, {name: content for name, content in BEIR.items() if "qrels" not in name})
    with pytest.raises(UserError, match=r"none of train\.tsv, dev\.tsv, test\.tsv"):
        beir.read(tmp_path, beir.Options())


SGML = """<DOC>
<DOCNO> FT-1 </DOCNO>
<HEADLINE>Fish &amp; chips</HEADLINE>
<DATE>1994</DATE>
<TEXT>
<P>Cod.</P> Plaice.
</TEXT>
</DOC>
<doc><docno>FT-2</docno> no sections at all </doc>
"""
TOPICS = """<top>
<num> Number: 301
<title> organised crime

<desc> Description:
Find organisations
in crime.
</top>
<top>
<num> Number: 302
<title> polio
</top>
"""
TREC = {"docs/a": SGML, "docs/b.jsonl": '{"id": "j1", "contents": "json text"}\n', "topics": TOPICS,
        "qrels": "301 0 FT-1 1\n302 0 j1 0\n"}  # fmt: skip
OPTIONS = trec.Options(["docs/*"], {"test": "topics"}, {"test": "qrels"})


def test_trec_by_subtopic_leaves_no_document_out(tmp_path):
    root = write(tmp_path, TREC | {"qrels": "301 1 FT-1 1\n301 2 FT-1 2\n302 1 j1 0\n"})
    collection = trec.read(root, replace(OPTIONS, subtopics=True))
    assert collection.qrels["test"] == {"301": {"FT-1": 2}, "302": {"j1": 0}} and not collection.excluded
    assert set(collection.subtopics["test"]) == {"1", "2"}


def test_trec(tmp_path):
    collection = trec.read(write(tmp_path, TREC), OPTIONS)
    assert list(collection.documents) == [
        Document("FT-1", "Fish & chips", "Cod. Plaice."),
        Document("FT-2", "", "no sections at all"),
        Document("j1", "", "json text"),
    ]
    assert collection.queries == {"test": {"301": "organised crime", "302": "polio"}}
    assert collection.qrels == {"test": {"301": {"FT-1": 1}, "302": {"j1": 0}}}


def test_topics_in_two_columns_in_xml_and_by_another_field(tmp_path):
    write(tmp_path, {"tsv": "1\twhat is it\n", "plain": TOPICS,
                     "xml": "<topics>\n<topic>\n<number>7</number>\n<title>tea or coffee?</title>\n</topic>\n</topics>\n"})  # fmt: skip
    assert trec.read_topics(tmp_path / "tsv", "title") == {"1": "what is it"}
    assert trec.read_topics(tmp_path / "xml", "title") == {"7": "tea or coffee?"}
    with pytest.raises(UserError, match=r"plain:9: query 302 has no text \(topic field: description; it has title\)"):
        trec.read_topics(tmp_path / "plain", "description", {"302"})


def insurance_files(folder):
    parts = {
        "answers": {str(n): {"en": f"answer  {n}", "zh": f"答 {n}"} for n in range(5)},
        "train": {"0": {"domain": "home", "en": "What  now?", "zh": "什么", "answers": ["1", "2"], "negatives": ["3"]}},
        "valid": {"0": {"domain": "home", "en": "And  then?", "zh": "然后", "answers": ["2"], "negatives": []}},
        "test": {"0": {"domain": "auto", "en": "Why?", "zh": "为什么", "answers": ["4"], "negatives": []},
                 "1": {"domain": "home", "en": "Who?", "zh": "谁", "answers": ["0"], "negatives": []}},
    }  # fmt: skip
    for name, content in parts.items():
        with gzip.open(folder / f"{name}.json.gz", "wt", encoding="utf-8") as file:
            json.dump(content, file)
    return folder


def test_insuranceqa_takes_one_domain_and_all_answers_given_in_it(tmp_path):
    collection = insuranceqa.read(insurance_files(tmp_path), insuranceqa.Options(domain="home"))
    assert [document.id for document in collection.documents] == ["0", "1", "2"]
    assert collection.queries["test"] == {"test-1": "Who?"} and collection.queries["dev"] == {"dev-0": "And then?"}
    assert collection.qrels["train"] == {"train-0": {"1": 1, "2": 1}}
    with pytest.raises(UserError, match="no domain 'pets' in InsuranceQA; it has auto, home"):
        insuranceqa.read(tmp_path, insuranceqa.Options(domain="pets"))
