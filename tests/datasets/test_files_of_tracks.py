"""Topics, documents and judgements in the forms in which tracks and collections distribute them."""

import json

import pytest
from ir_datasets.datasets.msmarco_document import MsMarcoDocument
from ir_datasets.datasets.msmarco_document_v2 import MsMarcoV2Document

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import beir, qrels, trec
from ranktrial.ir.collection import Document
from tests.support.broken import BEIR, FORMATS, TREC, refusal, write
from tests.support.one_line import refused

TOPICS = {
    "Web track": (
        '<webtrack2009>\n <topic number="1" type="faceted">\n  <query>obama family</query>\n  <description>Find it.'
        '</description>\n  <subtopic number="1" type="nav">a</subtopic>\n </topic>\n'
        "<topic type='ambiguous' number='2'><query>kcs &amp; co</query></topic>\n</webtrack2009>\n",
        {"1": "obama family", "2": "kcs & co"},
    ),
    "clinical trials": (
        '<topics task="2021 TREC Clinical Trials">\n<topic number="1">\n  Patient is a 45-year-old\nman.\n</topic>\n'
        '<topic number=2>x < 3 cm</topic></topics>\n',
        {"1": "Patient is a 45-year-old man.", "2": "x < 3 cm"},
    ),
    "CLEF": (
        '<?xml version="1.0"?>\n<topics><topic lang="en"><identifier>10.2452/401-AH</identifier>\n'
        "<title lang='en'>Euro <i>Inflation</i></title><description>Find it.</description></topic></topics>\n",
        {"10.2452/401-AH": "Euro Inflation"},
    ),
    "TREC-COVID": ('<topics><topic number="1"><query>coronavirus origin</query><question>what is it</question></topic></topics>', {"1": "coronavirus origin"}),
    "Genomics": ("<TOPICS><TOPIC><ID>7</ID><TITLE>DNA repair</TITLE><NEED>x</NEED></TOPIC></TOPICS>", {"7": "DNA repair"}),
    "Microblog": ("<top>\n<num> Number: MB001 </num>\n<query> BBC staff </query>\n<querytime> Tue </querytime>\n</top>\n", {"MB001": "BBC staff"}),
    "ad hoc": ("<top>\n<head> Tipster\n<num> Number: 051\n<dom> Domain: x\n<title> Topic:  Airbus Subsidies\n\n<desc> Description:\nx\n</top>\n", {"051": "Airbus Subsidies"}),
    "id:text": ("701:u s oil industry\nMQ-2: time: 12:30\n", {"701": "u s oil industry", "MQ-2": "time: 12:30"}),
    "two columns, whose texts hold colons": ("a:1\twhat: is\n2\tit\n", {"a:1": "what: is", "2": "it"}),
    "two columns with a heading": ("qid\tquery\n1\twhat\n", {"1": "what"}),
    "JSON lines of TREC": ('{"query_id": "2024001", "query": " tip of the tongue "}\n', {"2024001": "tip of the tongue"}),
    "JSON lines of BEIR": ('{"_id": "q1", "title": "", "text": "a b", "metadata": {"x": NaN}}\n', {"q1": "a b"}),
    "JSON lines of numbers": ('{"qid": 3, "question": "why", "title": null}\n', {"3": "why"}),
}  # fmt: skip


@pytest.mark.parametrize("track", TOPICS)
def test_topics_as_they_are_on_disk(tmp_path, track):
    content, queries = TOPICS[track]
    write(tmp_path, {"topics": content})
    assert trec.read_topics(tmp_path / "topics", "title") == queries


def test_any_field_can_be_the_query(tmp_path):
    write(tmp_path, {
        "cds": '<topics><topic number="1" type="diagnosis"><description>Long.</description><summary>A 58-year-old.'
               "</summary></topic></topics>",
        "covid": '<topic number="1"><query>a</query><question>what is it</question></topic>',
        "clef": "<top><num>C041</num><EN-title> Pesticides </EN-title></top>",
        "jsonl": '{"id": 1, "title": "short", "text": "long", "narrative": "who"}\n',
    })  # fmt: skip
    for file, field, text in (
        ("cds", "summary", {"1": "A 58-year-old."}),
        ("cds", "description", {"1": "Long."}),
        ("cds", "title", {"1": ""}),
        ("covid", "question", {"1": "what is it"}),
        ("clef", "EN-title", {"C041": "Pesticides"}),
        ("jsonl", "text", {"1": "long"}),
        ("jsonl", "title", {"1": "short"}),
        ("jsonl", "narrative", {"1": "who"}),
    ):
        assert trec.read_topics(tmp_path / file, field) == text, (file, field)


REFUSED_TOPICS = {
    "no number": ('<topic type="x"><query>a</query></topic>', "topics:1: the topic has no id"),
    "a number twice": ('<topic number="1">a</topic>\n<topic number="1">b</topic>', "topics:2: duplicate query id 1"),
    "two titles": ("<topic number='1'><title>a</title><title>b</title></topic>", "two fields <title> in one topic"),
    "other fields": ("\n<topic number='1'><disease>a</disease><gene>b</gene></topic>",
                     "topics:2: query 1 has no text (topic field: title; it has disease, gene)"),
    "another key": ('{"id": 1, "utterance": "a"}\n',
                    "topics:1: query 1 has no text (topic field: title; it has id, utterance)"),
    "a float id": ('{"id": 1.0, "text": "a"}\n', "topics:1: the query id 1.0 is a decimal number"),
    "no id": ('{"text": "a"}\n', "topics:1: the query has no id"),
    "no colon": ("1:a\nb c\n", "topics:2: expected id:text, as above"),
    "an id with a space": ("1\ta\n2 3\tb\n", "topics:2: the query id '2 3' contains white space"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED_TOPICS)
def test_topics_that_are_refused(tmp_path, case):
    content, said = REFUSED_TOPICS[case]
    assert said in refusal("trec", tmp_path, {"topics": content, "qrels": "1 0 F1 1\n"})


def test_only_a_judged_query_needs_a_text(tmp_path):
    """In all formats whose queries stand apart from their judgements; left out where queries without judgements are
    taken for training."""
    without = {"topics": TREC["topics"] + "<top>\n<num> 3\n<title>\n</top>\n"}
    reader, files, options = FORMATS["trec"]
    collection = reader.read(write(tmp_path / "trec", files | without), reader.Options(**options))
    assert list(collection.queries["test"]) == ["1", "2"]
    for text in ('"text": ""', '"text": null', '"other": 1'):
        queries = BEIR["x/queries.jsonl"] + f'{{"_id": "q3", {text}}}\n{{"_id": "q4", "text": "fourth"}}\n'
        collection = beir.read(write(tmp_path / "beir", BEIR | {"x/queries.jsonl": queries}), beir.Options())
        assert collection.queries == {"test": {"q2": "second", "q1": "first"}}
        assert collection.unjudged == {"q4": "fourth"}
    topics = "<topics><topic><number>1</number><title>A?</title></topic><topic><number>9</number></topic></topics>"
    reader, files, options = FORMATS["touche"]
    collection = reader.read(write(tmp_path / "touche", files | {"topics.xml": topics}), reader.Options(**options))
    assert collection.queries["test"] == {"1": "A?"}
    reader, files, options = FORMATS["checkthat"]
    tweets = files["v3/train/tweets.queries.tsv"] + "4\t\n"
    files = files | {"v3/train/tweets.queries.tsv": tweets}
    collection = reader.read(write(tmp_path / "checkthat", files), reader.Options(**options))
    assert set(collection.queries["train"]) == {"1", "2"}


def documents(folder, name, content, **options):
    topics = {"topics": "1\tx\n", "qrels": "1 0 d 1\n"}
    root = write(folder, topics | {f"docs/{name}": content})
    collection = trec.read(root, trec.Options(["docs/*"], {"test": "topics"}, {"test": "qrels"}, **options))
    return list(collection.documents)


PAGE = {"docid": "D1", "url": "http://x", "title": "Fruit", "headings": "Trees\nFields", "body": "Pears grow."}
SEGMENT = {"docid": "D1#0_0", "url": "u", "title": "Fruit", "headings": "Trees", "segment": "Pears.", "start_char": 0}
PASSAGE = {"pid": "msmarco_passage_00_7", "passage": "Pears grow.", "spans": "(0,11)", "docid": "msmarco_doc_00_0"}


def test_json_lines_of_ms_marco_have_the_texts_that_ir_datasets_gives_them(tmp_path):
    lines = "".join(json.dumps(record) + "\n" for record in (PAGE, SEGMENT, PASSAGE))
    page, segment, passage = documents(tmp_path, "docs.jsonl", lines)
    for document, record, text in ((page, PAGE, "body"), (segment, SEGMENT, "segment")):
        library = MsMarcoV2Document(record["docid"], record["url"], record["title"], record["headings"], record[text])
        assert (document.id, document.title) == (record["docid"], "Fruit")
        assert document.contents == library.default_text()
    assert passage == Document("msmarco_passage_00_7", "", "Pears grow.")


def test_columns_of_ms_marco(tmp_path):
    assert documents(tmp_path / "a", "collection.tsv", "0\tPears grow.\n1\t{a} <b>\n2\t\n") == [
        Document("0", "", "Pears grow."), Document("1", "", "{a} <b>"), Document("2", "", "")]  # fmt: skip
    (page,) = documents(tmp_path / "b", "msmarco-docs.tsv", "D1\thttp://x\tFruit\tPears grow.\n")
    assert page.contents == MsMarcoDocument("D1", "http://x", "Fruit", "Pears grow.").default_text()
    of_dpr = documents(tmp_path / "c", "psgs.tsv", "id\ttext\ttitle\n1\tPears grow.\tFruit\n")
    assert of_dpr == [Document("1", "Fruit", "Pears grow.")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1\ta\tb\n", "b:1: 3 columns separated by tabs, expected 2 (id, text) or 4 (docid, url, title, body)"),
        ("1\ta\n2\tb\tc\n", "b:2: 3 columns separated by tabs, expected 2 as above"),
        ("1 2\ta\n", "b:1: the document id '1 2' contains white space"),
    ],
)
def test_columns_that_are_refused(tmp_path, content, said):
    assert said in refusal("trec", tmp_path, {"docs/b": content})


UNREAD = {
    "a key": ("".join(f'{{"docid": "d{n}", "title": "T", "passage_text": "x", "lang": "en"}}\n' for n in range(3)),
              "3 of 3 documents have no text; expected TREC markup with <TEXT>, JSON lines with one of the keys text, "
              "contents, body, segment, passage, content, or columns id, text, found docid, title, "
              "passage_text, lang"),
    "null": ('{"id": "a", "text": null, "abstract": "x"}\n{"id": "b", "text": NaN}\n',
             "2 of 2 documents have no text"),
    "most": ('{"id": "a", "text": "x"}\n' + '{"id": "b", "abstract": "x"}\n{"id": "c", "abstract": "x"}\n',
             "2 of 3 documents have no text"),
    "markup": ("<DOC>\n<DOCNO>1</DOCNO>\n<TITLE>T</TITLE>\n<TEXT></TEXT>\n<GRAPHIC>x</GRAPHIC>\n</DOC>\n",
               "found <DOC>, <DOCNO>, <TITLE>, <TEXT>, <GRAPHIC>"),
    "columns": ("id\tabstract\ttext\n1\tx\t\n", "1 of 1 documents have no text"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREAD)
def test_a_corpus_of_titles_is_refused(tmp_path, case):
    content, said = UNREAD[case]
    with refused(said, start=f"{tmp_path}/docs/corpus: "):
        documents(tmp_path, "corpus", content)


def test_of_beir_too_and_half_of_the_texts_are_enough(tmp_path):
    titles = '{"_id": "d1", "title": "T", "body": "one"}\n{"_id": 2, "title": "U", "body": "two"}\n'
    said = "corpus.jsonl: 2 of 2 documents have no text; expected the key text, found _id, title, body"
    assert said in refusal("beir", tmp_path, {"x/corpus.jsonl": titles})
    half = '{"_id": "d1", "title": "T"}\n{"_id": 2, "text": "two"}\n'
    collection = beir.read(write(tmp_path, BEIR | {"x/corpus.jsonl": half}), beir.Options())
    assert [document.contents for document in collection.documents] == ["T", "two"]


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "euc-jp", "GB18030"])
def test_documents_and_topics_in_another_encoding(tmp_path, encoding):
    word = {"latin-1": "pêche", "windows-1252": "pêche, 5 €", "euc-jp": "桃の木", "GB18030": "桃树"}[encoding]
    files = {
        "docs/a": f"<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>{word}</TEXT>\n</DOC>\n",
        "docs/b": f'{{"id": "2", "text": "{word}"}}\n',
        "docs/c": f"3\t{word}\n",
        "topics": f"1\t{word}\n",
        "json": f'{{"id": "1", "text": "{word}"}}\n',
    }
    write(tmp_path, {name: content.encode(encoding) for name, content in files.items()} | {"qrels": "1 0 1 1\n"})
    for topics in ("topics", "json"):
        options = trec.Options(["docs/*"], {"test": topics}, {"test": "qrels"}, encoding=encoding)
        collection = trec.read(tmp_path, options)
        assert [document.text for document in collection.documents] == [word] * 3
        assert collection.queries == {"test": {"1": word}}
    write(tmp_path, {"topics": f"1\t{word}\n"})  # in UTF-8
    assert trec.read(tmp_path, options).queries == {"test": {"1": word}}


def test_topics_in_xml_state_their_encoding(tmp_path):
    topic = '<topics><topic number="1">p\xeache</topic></topics>'
    for name in ("ISO-8859-1", "cp1252", "klingon"):
        write(tmp_path, {"topics": f'<?xml version="1.0" encoding="{name}"?>\n{topic}'.encode("latin-1")})
        encoding = "koi8-r" if name != "klingon" else "latin-1"
        assert trec.read_topics(tmp_path / "topics", "title", encoding=encoding) == {"1": "p\xeache"}, name


def test_a_byte_that_an_encoding_lacks_is_reported_with_its_line(tmp_path):
    markup = "<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>p\x81che</TEXT>\n</DOC>\n".encode("latin-1")
    said = refusal("trec", tmp_path, {"docs/a": markup})
    assert said.endswith("docs/a:3: not UTF-8 text; state it by the key encoding (such as latin-1)")
    letters = "<DOC>\n<DOCNO>1</DOCNO>\nsch\xf6n\n</DOC>\n".encode("latin-1")
    named = "not UTF-8 text (byte 0xf6, 'ö' in cp1252); state it by the key encoding (cp1252)"
    assert refusal("trec", tmp_path, {"docs/a": letters}).endswith(named)
    said = refusal("trec", tmp_path, {"docs/a": markup}, encoding="cp1252")
    assert said.endswith("docs/a:3: not cp1252 text")


def test_an_encoding_that_there_is_not_is_reported_before_anything_is_read():
    entry = {"documents": ["a"], "topics": {"test": "t"}, "qrels": {"test": "q"}, "topic_field": "title"}
    for name in ("klingon", "rot13", "utf-16", "cp037", "iso2022_jp", "a\0b", "zip"):
        mistake = trec.mistake(trec.Options(**entry, encoding=name))
        assert mistake.key == "encoding" and "expected one such as utf-8, latin-1" in mistake.what, name
    for name in ("utf-8", "UTF8", "latin1", "ISO-8859-1", "windows-1251", "Shift_JIS", "gbk"):
        assert trec.mistake(trec.Options(**entry, encoding=name)) is None, name


def test_judgements_of_trec_and_of_beir_in_each_others_layout(tmp_path):
    """Also with the grades of tools that hold them as floats."""
    expected = {"test": {"q1": {"d1": 1, "2": 0}, "q2": {"d1": -2}}}
    forms = {
        "TREC": "q1 0 d1 1\nq1 0 2 0\nq2 0 d1 -2\n",
        "TREC with tabs": "q1\t0\td1\t1.0\nq1\t0\t2\t0.0\nq2\t0\td1\t-2.00\n",
        "BEIR": "query-id\tcorpus-id\tscore\nq1\td1\t1.0\nq1\t2\t0\nq2\td1\t-2.\n",
        "BEIR without a heading": "q1\td1\t1\nq1\t2\t0\nq2\td1\t-2\n",
    }
    for form, content in forms.items():
        assert beir.read(write(tmp_path, BEIR | {"x/qrels/test.tsv": content}), beir.Options()).qrels == expected, form
        assert qrels.read(tmp_path / "x/qrels/test.tsv", qrels.Options()).qrels == expected, form
    for ending in (".qrels", ".txt", ".trec"):
        (tmp_path / "x/qrels/test.tsv").unlink(missing_ok=True)
        write(tmp_path, {f"x/qrels/test{ending}": forms["TREC"]})
        assert beir.read(tmp_path, beir.Options()).qrels == expected, ending
        (tmp_path / f"x/qrels/test{ending}").rename(tmp_path / "x/qrels/test.tsv")
    write(tmp_path, {"x/qrels/test.txt": forms["TREC"]})
    with pytest.raises(UserError, match=r"qrels: test\.tsv and test\.txt are both there; expected one"):
        beir.read(tmp_path, beir.Options())


@pytest.mark.parametrize("grade", ["0.5", "1.01", "1e0", ".0", "1.0.0", "1,0", ""])
def test_a_grade_between_whole_numbers_is_none(tmp_path, grade):
    said = refusal("qrels", tmp_path, {"a": f"q1\td1\t1\nq1\td2\t{grade}\n"})
    assert said == f"{tmp_path}/a:2: grade {grade!r} is not an integer"


def test_irregularities_that_mean_nothing(tmp_path):
    """A null title, and NaN (as pandas writes a missing value), also under a key that is not read."""
    corpus = '{"_id": "d1", "title": null, "text": "one", "year": NaN}\n{"_id": 2, "text": "two", "x": [-Infinity]}\n'
    collection = beir.read(write(tmp_path / "beir", BEIR | {"x/corpus.jsonl": corpus}), beir.Options())
    assert list(collection.documents) == [Document("d1", "", "one"), Document("2", "", "two")]
    read = documents(tmp_path / "trec", "a.jsonl", corpus.replace("_id", "docno"))
    assert read == [Document("d1", "", "one"), Document("2", "", "two")]
    corpus = '{"_id": "d1", "title": NaN, "text": "one"}\n{"_id": 2, "title": "T", "text": null}\n'
    collection = beir.read(write(tmp_path / "missing", BEIR | {"x/corpus.jsonl": corpus}), beir.Options())
    expected = [Document("d1", "", "one"), Document("2", "T", "")]
    assert list(collection.documents) == expected
    assert documents(tmp_path / "missing-trec", "a.jsonl", corpus) == expected
