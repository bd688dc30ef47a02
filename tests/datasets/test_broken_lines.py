"""Lines and records of datasets that are refused, each with its place."""

import json
import time

import pytest

from ranktrial.datasets.formats import trec
from tests.support.broken import SGML, TOPICS, refusal, write

BAD_LINES = {
    "key twice": ('{"_id": "d1", "text": "a", "text": "b"}', "duplicate key 'text'"),
    "id twice": ('{"_id": "d1", "_id": "d2", "text": "b"}', "duplicate key '_id'"),
    "text is 0": ('{"_id": "d1", "text": 0}', "'text' must be text, but is a number"),
    "text is false": ('{"_id": "d1", "text": false}', "'text' must be text, but is true or false"),
    "text is a list": ('{"_id": "d1", "text": []}', "'text' must be text, but is a list"),
    "text is a mapping": ('{"_id": "d1", "text": {}}', "'text' must be text, but is a mapping"),
    "text is 1.5": ('{"_id": "d1", "text": 1.5}', "'text' must be text, but is a number"),
    "title is 0": ('{"_id": "d1", "title": 0, "text": "a"}', "'title' must be text, but is a number"),
    "title is false": ('{"_id": "d1", "title": false, "text": "a"}', "'title' must be text, but is true or false"),
    "no id": ('{"text": "a"}', "the document has no id"),
    "empty id": ('{"_id": "", "text": "a"}', "the document has no id"),
    "id is null": ('{"_id": null, "text": "a"}', "the document has no id"),
    "id is true": ('{"_id": true, "text": "a"}', "the document has no id"),
    "id is 1.0": ('{"_id": 1.0, "text": "a"}', "the document id 1.0 is a decimal number; expected text or a whole number"),
    "id is NaN": ('{"_id": NaN, "text": "a"}', "the document id nan is a decimal number"),
    "id is a list": ('{"_id": ["d1"], "text": "a"}', "the document has no id"),
    "id with a space": ('{"_id": "d 1", "text": "a"}', "contains white space"),
    "id with a tab": ('{"_id": "d\\t1", "text": "a"}', "contains white space"),
    "id with a newline": ('{"_id": "d1\\n", "text": "a"}', "contains white space"),
    "id with U+00A0": ('{"_id": "d\\u00a01", "text": "a"}', "contains white space"),
    "id with U+2003": ('{"_id": "d\u20031", "text": "a"}', "contains white space"),
    "id with NUL": ('{"_id": "d\\u0000", "text": "a"}', "contains a control character"),
    "id with escape": ('{"_id": "\\u001b[2J", "text": "a"}', "contains a control character"),
    "id of 5,000 characters": (json.dumps({"_id": "d" * 5000, "text": "a"}), "has more than 4,000 characters"),
    "lone surrogate": ('{"_id": "d1", "text": "\\ud800"}', "half of a surrogate pair"),
    "lone surrogate in id": ('{"_id": "\\udc00", "text": "a"}', "half of a surrogate pair"),
    "huge integer": ('{"_id": ' + "9" * 5000 + ', "text": "a"}', "is beyond 64 bits"),
    "huge integer elsewhere": ('{"_id": "d1", "text": "a", "year": ' + "9" * 30 + "}", "is beyond 64 bits"),
    "text is infinite": ('{"_id": "d1", "text": Infinity}', "'text' must be text, but is a number"),
    "1e999": ('{"_id": "d1", "text": "a", "x": 1e999}', "beyond 64 bits"),
    "nested deep": ("[" * 100_000, "nested too deep"),
    "nested deep in a record": ('{"_id": "d1", "text": ' + '{"a":' * 100_000, "nested too deep"),
    "a list": ('["d1", "a"]', "expected a JSON object, not list"),
    "a number": ("1", "expected a JSON object, not int"),
    "single quotes": ("{'_id': 'd1'}", "not JSON"),
    "two objects": ('{"_id": "d1"} {"_id": "d2"}', "not JSON (Extra data"),
    "cut off": ('{"_id": "d1", "text": "a', "not JSON"),
    "raw tab in a text": ('{"_id": "d1", "text": "a\tb"}', "not JSON (Invalid control character"),
    "raw NUL": ('{"_id": "d1", "text": "a\0b"}', "a NUL character"),
}  # fmt: skip


@pytest.mark.parametrize("name", ["beir", "trec"])
@pytest.mark.parametrize(("line", "said"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_line_of_a_corpus_that_is_refused(tmp_path, line, said, name):
    file = {"beir": "x/corpus.jsonl", "trec": "docs/b.jsonl"}[name]
    found = refusal(name, tmp_path, {file: '{"_id": "ok", "text": "fine"}\n\n' + line + "\n"})
    assert f"{file}:3: " in found and said in found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"_id": "q1", "text": 0}', "'text' must be text"),
        ('{"_id": "q1", "text": null}', "query q1 has no text; it has '_id', 'text'"),
        ('{"_id": "q1", "text": "\\u00a0"}', "query q1 has no text"),
        ('{"_id": "q1"}', "query q1 has no text"),
        ('{"_id": "q1", "text": NaN}', "query q1 has no text"),
        ('{"_id": "q 1", "text": "a"}', "contains white space"),
        ('{"_id": "q1", "text": "a", "text": "a"}', "duplicate key"),
    ],
)
def test_a_query_that_is_refused(tmp_path, line, said):
    assert f"queries.jsonl:1: {said}" in refusal("beir", tmp_path, {"x/queries.jsonl": line + "\n"}).replace("key 'text' ", "").replace(
        "the query id 'q 1' ", "")  # fmt: skip


@pytest.mark.parametrize(
    ("line", "said"),
    [("q1\td 1\t1", "the document id 'd 1' contains white space"), ("q1\t\t1", "the document id '' is empty"),
     ("q1\td1\t1_0", "grade '1_0' is not an integer"), ("q1\td1\t99999999999", "is beyond 1,000,000"),
     ("q1\td1\x01\t1", "the document id 'd1\\x01' contains a control character"), ("q1\td1\t1\t1", "4 columns"), ("q1 d1 1", "3 columns, but a file of judgements has TREC's 4")],
)  # fmt: skip
def test_a_line_of_beirs_qrels_that_is_refused(tmp_path, line, said):
    assert f"test.tsv:2: {said}" in refusal("beir", tmp_path, {"x/qrels/test.tsv": f"q2\td1\t1\n{line}\n"}).replace(
        "grade '99999999999' ", ""
    )


MARKUP = {
    "no closing tag": ("docs/a", SGML.replace("</DOC>", "", 1), "docs/a:6: a <DOC> begins before that of line 1"),
    "no closing tag at the end": ("docs/a", SGML[:-8], "a <DOC> has no </DOC>"),
    "no opening tag": ("docs/a", SGML.replace("</DOC>\n<DOC>\n", "</DOC>\n", 1), "docs/a:6: this is outside of any document"),
    "two in one line": ("docs/a", "<DOC><DOCNO>1</DOCNO></DOC><DOC><DOCNO>2</DOCNO></DOC>\n", "docs/a:1: two documents in one <DOC>"),
    "two numbers": ("docs/a", SGML.replace("<TITLE>", "<DOCNO>9</DOCNO><TITLE>"), "docs/a:1: two documents in one"),
    "text between": ("docs/a", SGML.replace("</DOC>\n", "</DOC>\nlost\n", 1), "docs/a:6: this is outside of any document"),
    "no documents": ("docs/a", "<html>\n<body>\n</body>\n</html>\n", "docs/a:1: no <DOC>"),
    "number not closed": ("docs/a", SGML.replace("</DOCNO>", "", 1), "docs/a:1: the document (<DOCNO>) has no id"),
    "number with a space": ("docs/a", SGML.replace("F2", "F 2"), "contains white space"),
    "neither": ("docs/a", "hello\n", "docs/a:1: neither TREC markup (<DOC>), nor JSON lines, nor columns"),
    "topic not closed": ("topics", TOPICS.replace("</top>\n", "", 1), "topics:6: a topic begins before that of topics:1 has ended"),
    "last topic not closed": ("topics", TOPICS[:-7], "topics:7: a topic has no end"),
    "topic not begun": ("topics", TOPICS + "</top>\n", "topics:11: a topic ends that has not begun"),
    "topic number twice": ("topics", TOPICS.replace("<num> 2", "<num> 1"), "topics:7: duplicate query id 1"),
    "two numbers in a topic": ("topics", TOPICS.replace("<title> polio", "<num> 3\n<title> polio"), "topics:7: two fields <num> in one topic"),
    "topic without number": ("topics", TOPICS.replace("<num> 2", ""), "topics:7: the topic has no id"),
    "topic without text": ("topics", TOPICS.replace(" polio", ""), "topics:7: query 2 has no text"),
    "no topics": ("topics", "<topics>\n</topics>\n", "topics:1: neither TREC topics"),
    "one column": ("topics", "301 no tab\n", "topics:1: 1 columns, expected 2, separated by a tab"),
    "three columns": ("topics", "1\ta\tb\n", "topics:1: 3 columns"),
    "empty topics": ("topics", "", "query 1 is judged but has no text"),
    "no judgements": ("qrels", "", "no judged query"),
    "judged topic missing": ("qrels", "9 0 F1 1\n", "query 9 is judged but has no text"),
}  # fmt: skip


@pytest.mark.parametrize(("file", "content", "said"), MARKUP.values(), ids=MARKUP)
def test_trec_markup_that_is_refused(tmp_path, file, content, said):
    assert said in refusal("trec", tmp_path, {file: content}).replace(f"{tmp_path}/", "")


def test_topics_in_one_line_and_signs_in_them_are_read_whole(tmp_path):
    one_line = "<topics><topic><number>1</number><title>a &lt; b < 3</title></topic><topic><number>2</number><title>x</title></topic></topics>"
    bomb = '<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>\n<top>\n<num> 2\n<title> &b;\n</top>\n'
    write(tmp_path, {"topics": one_line, "bomb": bomb})
    assert trec.read_topics(tmp_path / "topics", "title") == {"1": "a < b < 3", "2": "x"}
    assert trec.read_topics(tmp_path / "bomb", "title") == {"2": "&b;"}


@pytest.mark.parametrize("sign", ["<", "<TITLE>", "<TEXT>", "<DOCNO", "&", "<!--"])
def test_markup_that_never_ends_is_read_in_no_time(tmp_path, sign):
    (tmp_path / "a").write_text(f"<DOC>\n<DOCNO>1</DOCNO>\n{sign * 100_000}\n</DOC>\n")
    started = time.process_time()
    assert len(list(trec.read_documents(tmp_path / "a", "utf-8"))) == 1
    assert time.process_time() - started < 5
