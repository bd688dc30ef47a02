"""Touché's files: what is read of topics and documents, and what is said of broken and hostile ones."""

import gzip

import pytest

from ranktrial.common import strict_xml
from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import touche
from ranktrial.datasets.formats.touche import Topic
from ranktrial.ir.collection import Document
from tests.support.broken import TOUCHE, read_all, refusal, write


def test_topics_documents_and_judgements(tmp_path):
    documents, queries, qrels = read_all("touche", write(tmp_path, TOUCHE))
    assert documents == [Document("c1___1", "", "Tea calms."), Document("c2___7", "", "Coffee wakes.")]
    assert queries == {"test": {"1": "Which is better, tea & milk or coffee?"}}  # topic 2 has no judgement
    assert qrels == {"test": {"1": {"c1___1": 2, "c2___7": 0}}}
    assert read_all("touche", tmp_path, topic_field="description")[1] == {"test": {"1": "A choice."}}


def test_topics_with_all_fields_and_with_those_of_2021(tmp_path):
    path = write(tmp_path, TOUCHE) / "topics.xml"
    full = Topic("1", "Which is better, tea & milk or coffee?", ("tea", "coffee"), "A choice.", "Both.")
    assert touche.read_topics(path) == [full, Topic("2", "Cats or dogs?")]
    packed = tmp_path / "topics.xml.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert touche.read_topics(packed) == touche.read_topics(path)


def test_markup_inside_a_title_is_text_of_the_title(tmp_path):
    (tmp_path / "t.xml").write_text(
        "<topics><topic><number> 7 </number><title>Is <b>tea</b>\n better?</title></topic></topics>"
    )
    assert touche.read_topics(tmp_path / "t.xml") == [Topic("7", "Is tea better?")]


def test_training_topics_without_judgements_are_reported_apart(tmp_path):
    options = {"documents": ["docs.jsonl"], "topics": {"train": "topics.xml"}, "qrels": {"train": "relevance.qrels"}}
    collection = touche.read(write(tmp_path, TOUCHE), touche.Options(**options))
    assert collection.unjudged == {"2": "Cats or dogs?"} and list(collection.queries["train"]) == ["1"]
    options["qrels"] = {}
    collection = touche.read(tmp_path, touche.Options(**options))
    assert list(collection.unjudged) == ["1", "2"] and collection.qrels == {"train": {}}


BILLION = (
    '<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<topics><topic><title>&b;</title></topic></topics>'
)
OUTSIDE = '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<topics><topic><title>&x;</title></topic></topics>'
TOPIC = "<topic><number>1</number><title>A or B?</title></topic>"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (BILLION, "topics.xml:1: a document type (<!DOCTYPE) could bring entities"),
        (OUTSIDE, "topics.xml:1: a document type (<!DOCTYPE) could bring entities"),
        ('<!DOCTYPE topics SYSTEM "http://h/t.dtd">\n<topics/>', "topics.xml:1: a document type (<!DOCTYPE)"),
        ("<topics>\n<topic><title>&nbsp;</title></topic></topics>", "topics.xml:2: not XML: undefined entity"),
        (f"<topics>\n{TOPIC}", "topics.xml:2: not XML: no element found"),
        ("", "topics.xml:1: not XML: no element found"),
        ("<topics>\n<topic></topics>", "topics.xml:2: not XML: mismatched tag"),
        (f"{'<a>' * 30}{'</a>' * 30}", "topics.xml:1: more than 20 elements inside one another"),
        ('<?xml version="1.0" encoding="klingon"?><topics/>', "topics.xml:1: not XML: unknown encoding"),
        ("<queries/>", "topics.xml:1: <queries> is outermost, expected <topics>"),
        ("<topics></topics>", "topics.xml:1: no <topic> in <topics>"),
        ("<topics>\n<query/></topics>", "topics.xml:2: <query> in <topics>, expected <topic>"),
        (f"<topics>\n{TOPIC}\n{TOPIC}</topics>", "topics.xml:3: duplicate topic number 1"),
        ("<topics><topic><title>A or B?</title></topic></topics>", "topics.xml:1: the topic (<number>) has no id"),
        ("<topics><topic><number>1 2</number></topic></topics>", "the topic (<number>) id '1 2' contains white space"),
        ("<topics><topic><number>1</number><title> </title></topic></topics>", "topics.xml: topic 1 has no <title>"),
        (f"<topics>{TOPIC.replace('</topic>', '<title>C</title></topic>')}</topics>", "a second <title> in one topic"),
        (f"<topics>{TOPIC.replace('>1<', '>9<')}</topics>", "relevance.qrels: query 1 is judged but has no text"),
        (b"\xff\xfe\x00", "topics.xml:1: not XML: "),
    ],
)  # fmt: skip
def test_a_hostile_or_broken_file_of_topics_is_one_line(tmp_path, content, said):
    assert said in refusal("touche", tmp_path, {"topics.xml": content})


def test_a_field_that_the_topics_lack_is_one_line(tmp_path):
    folder = write(tmp_path, TOUCHE | {"relevance.qrels": "2 0 c1___1 1\n"})
    with pytest.raises(UserError, match=r"topics.xml: topic 2 has no <narrative>"):
        read_all("touche", folder, topic_field="narrative")


def test_files_of_topics_are_bounded_also_when_packed(tmp_path, monkeypatch):
    monkeypatch.setattr(strict_xml, "LARGEST_FILE", 1000)
    path = tmp_path / "topics.xml"
    for content in (b"<a>" + b" " * 1000, gzip.compress(b"<a>" + b" " * 1000)):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"topics\.xml: is larger than 0 MB, so hardly a file of topics"):
            touche.read_topics(path)
