"""Datasets of every format, broken on purpose: one line that names the place, and no half of a corpus."""

import gzip
import json
import os
import random
import tarfile
import time

import pytest

from scripts.common.archives import opened
from scripts.common.collection import Document, json_lines, read_corpus, read_ids, read_queries, write_corpus
from scripts.common.errors import UserError
from scripts.datasets.formats import beir, checkthat, emnlp2020, identifier, insuranceqa, qrels, trec
from scripts.datasets.prepare import prepare


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def packed(content):
    return gzip.compress(json.dumps(content, ensure_ascii=False, indent=1).encode(), mtime=0)


BEIR = {
    "x/corpus.jsonl": '{"_id": "d1", "title": "T", "text": "one"}\n{"_id": 2, "text": "two"}\n',
    "x/queries.jsonl": '{"_id": "q1", "text": "first"}\n{"_id": "q2", "text": "second"}\n',
    "x/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\td1\t2\nq1\t2\t0\n",
}
SGML = "<DOC>\n<DOCNO> F1 </DOCNO>\n<TITLE>Fish &amp; chips</TITLE>\n<TEXT>Cod.</TEXT>\n</DOC>\n<DOC>\n<DOCNO>F2</DOCNO>\nPlaice.\n</DOC>\n"
TOPICS = "<top>\n<num> Number: 1\n<title> crime\n<desc> Description:\nFind crime.\n</top>\n<top>\n<num> 2\n<title> polio\n</top>\n"
TREC = {
    "docs/a": SGML,
    "docs/b.jsonl": '{"id": "j1", "contents": "json text"}\n',
    "topics": TOPICS,
    "qrels": "1 0 F1 1\n2 0 j1 0\n",
}
CHECKTHAT = {
    "v3/verified_claims.docs.tsv": '\tvclaim\ttitle\n0\t"A ""law"" of\ntwo lines."\tWas It?\n7\tplain\t\n',
    "v3/train/tweets.queries.tsv": '\ttweet_content\n1\t"one,\ntwo"\n2\tthree\n',
    "v3/train/tweet-vclaim-pairs.qrels": "2\t0\t0\t1\n1\t0\t7\t1\n",
}
EMNLP = {
    "P/articles_content.json": json.dumps({"a1": {"headerTitle": "A", "body-text": ["p", "q"], "claim": "c"}}),
    "P/queries_content.json": json.dumps({"t1": {"OriginalTweetContent_Processed": "one", "Images_in_tweet": {"u": {"text_for_the_image": "pic"}}}}),
    "P/article_mapped.json": '{"a1": 0}',
    "P/query_mapped.json": '{"t1": 0}',
    "P/query_article_interaction.csv": "0,0\n",
}  # fmt: skip
QUESTION = {"domain": "home", "en": "What now?", "zh": "x", "answers": ["1", "2"]}
INSURANCE = {
    "answers.json.gz": packed({str(n): {"en": f"answer {n}", "zh": "x"} for n in range(4)}),
    "train.json.gz": packed({"0": QUESTION, "1": QUESTION | {"en": "Why?", "answers": ["0"]}}),
    "valid.json.gz": packed({"0": QUESTION | {"en": "Who?"}}),
    "test.json.gz": packed({"0": QUESTION | {"en": "Where?", "answers": ["3"]}}),
}
FORMATS = {
    "beir": (beir, BEIR, {}),
    "trec": (trec, TREC, {"documents": ["docs/*"], "topics": {"test": "topics"}, "qrels": {"test": "qrels"}, "topic_field": "title"}),
    "checkthat": (checkthat, CHECKTHAT, {"parts": {"train": "train"}}),
    "emnlp2020": (emnlp2020, EMNLP, {"text": "tweet+image"}),
    "insuranceqa": (insuranceqa, INSURANCE, {"language": "en", "domain": "home"}),
    "qrels": (qrels, {"a": "q1 0 d1 1\nq2 0 d2 0\n"}, {"qrels": {"test": "a"}}),
}  # fmt: skip


def read_all(name, root, **settings):
    reader, _, fixed = FORMATS[name]
    collection = reader.read(root, fixed | settings)
    return None if collection.documents is None else list(collection.documents), collection.queries, collection.qrels


def refusal(name, folder, files, **settings):
    write(folder, FORMATS[name][1] | files)
    with pytest.raises(UserError) as error:
        read_all(name, folder, **settings)
    assert "\n" not in str(error.value) and len(str(error.value)) < 600
    return str(error.value)


def changed(data, rng):
    """One random change of a file's bytes: what hands, discs and programs do to files."""
    place, end = sorted(rng.choices(range(len(data) + 1), k=2))
    odd = [b"\0", b"\xff", b'"', b"{", b"}", b"[", b"\t", b"\n", b",", b"<", b">", b"null", b"0", b"-1", b'{"a":1}', b"[]", b'""',
           b"1e999", b"NaN", b"\\ud800", b"</DOC>", b"<DOC>", b"<top>", b"\xc2\xa0", b"\x1c", b" ", b"9" * 30, b"true"]  # fmt: skip
    return rng.choice(
        [
            lambda: data[:place] + rng.choice(odd) + data[place:],
            lambda: data[:place] + rng.choice(odd) + data[place + 1 :],
            lambda: data[:place],
            lambda: data[:place] + data[end:],
            lambda: data[:place] + data[place:end] * 2 + data[end:],
            lambda: data.replace(rng.choice([b'"', b"\t", b"\n", b"1", b":"]), rng.choice(odd), 1),
        ]
    )()


def other_value(value, rng):
    """A JSON value with one of its parts, at any depth, exchanged for something else."""
    odd = [None, True, 0, -1, 1.5, "", " ", "a b", [], {}, [None], {"a": None}, "x" * 5000, 2**40, [[[]]]]
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        if rng.random() < 0.2:
            return {other if other != key else str(rng.choice(odd)): one for other, one in value.items()}
        return value | {key: other_value(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        return [*value[:-1], other_value(value[-1], rng)]
    return rng.choice(odd)


def check_fuzzed(name, folder, files):
    """What a changed dataset gives: one line, or a collection of texts and ids that runs can hold."""
    write(folder, files)
    try:
        documents, queries, judged = read_all(name, folder)
    except UserError as error:
        assert "\n" not in str(error)
        return
    for document in documents or []:
        assert all(isinstance(part, str) for part in document)
    for ids in ([one.id for one in documents or []], *judged.values(), *queries.values()):
        assert all(one and one == "".join(one.split(" ")) for one in ids)
    assert all(isinstance(text, str) and text.strip() for part in queries.values() for text in part.values())
    assert all(type(grade) is int for part in judged.values() for of in part.values() for grade in of.values())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", FORMATS)
def test_changed_bytes_end_in_one_line_or_a_sound_collection(tmp_path, name, seed):
    rng = random.Random(f"{name} {seed}")
    whole = FORMATS[name][1]
    for _ in range(60):
        file = rng.choice(list(whole))
        data = whole[file] if isinstance(whole[file], bytes) else whole[file].encode()
        if file.endswith(".gz") and rng.random() < 0.7:
            data = gzip.compress(changed(gzip.decompress(data), rng))
        else:
            data = changed(data, rng)
        check_fuzzed(name, tmp_path, whole | {file: data})


@pytest.mark.parametrize("name", ["beir", "trec", "emnlp2020", "insuranceqa"])
def test_changed_json_values_end_in_one_line_or_a_sound_collection(tmp_path, name):
    rng = random.Random(name)
    whole = {file: content for file, content in FORMATS[name][1].items() if "json" in file}
    for _ in range(100):
        file = rng.choice(list(whole))
        text = gzip.decompress(whole[file]).decode() if file.endswith(".gz") else whole[file]
        values = [json.loads(line) for line in text.splitlines()] if file.endswith("jsonl") else [json.loads(text)]
        text = "\n".join(json.dumps(other_value(value, rng)) for value in values)
        content = gzip.compress(text.encode()) if file.endswith(".gz") else text
        check_fuzzed(name, tmp_path, FORMATS[name][1] | {file: content})


BAD_LINES = {
    "key twice": ('{"_id": "d1", "text": "a", "text": "b"}', "key 'text' stands twice"),
    "id twice": ('{"_id": "d1", "_id": "d2", "text": "b"}', "key '_id' stands twice"),
    "text is 0": ('{"_id": "d1", "text": 0}', "'text' must be text, but is a number"),
    "text is false": ('{"_id": "d1", "text": false}', "'text' must be text, but is true or false"),
    "text is null": ('{"_id": "d1", "text": null}', "'text' must be text, but is null"),
    "text is a list": ('{"_id": "d1", "text": []}', "'text' must be text, but is a list"),
    "text is a mapping": ('{"_id": "d1", "text": {}}', "'text' must be text, but is a mapping"),
    "text is 1.5": ('{"_id": "d1", "text": 1.5}', "'text' must be text, but is a number"),
    "title is 0": ('{"_id": "d1", "title": 0, "text": "a"}', "'title' must be text, but is a number"),
    "title is false": ('{"_id": "d1", "title": false, "text": "a"}', "'title' must be text, but is true or false"),
    "title is null": ('{"_id": "d1", "title": null, "text": "a"}', "'title' must be text, but is null"),
    "no id": ('{"text": "a"}', "the document has no id"),
    "empty id": ('{"_id": "", "text": "a"}', "the document has no id"),
    "id is null": ('{"_id": null, "text": "a"}', "the document has no id"),
    "id is true": ('{"_id": true, "text": "a"}', "the document has no id"),
    "id is 1.0": ('{"_id": 1.0, "text": "a"}', "the document has no id"),
    "id is a list": ('{"_id": ["d1"], "text": "a"}', "the document has no id"),
    "id with a space": ('{"_id": "d 1", "text": "a"}', "holds white space"),
    "id with a tab": ('{"_id": "d\\t1", "text": "a"}', "holds white space"),
    "id with a newline": ('{"_id": "d1\\n", "text": "a"}', "holds white space"),
    "id with U+00A0": ('{"_id": "d\\u00a01", "text": "a"}', "holds white space"),
    "id with U+2003": ('{"_id": "d\u20031", "text": "a"}', "holds white space"),
    "id with NUL": ('{"_id": "d\\u0000", "text": "a"}', "holds a control character"),
    "id with escape": ('{"_id": "\\u001b[2J", "text": "a"}', "holds a control character"),
    "id of 5,000 characters": (json.dumps({"_id": "d" * 5000, "text": "a"}), "has more than 4,000 characters"),
    "lone surrogate": ('{"_id": "d1", "text": "\\ud800"}', "half of a surrogate pair"),
    "lone surrogate in id": ('{"_id": "\\udc00", "text": "a"}', "half of a surrogate pair"),
    "huge integer": ('{"_id": ' + "9" * 5000 + ', "text": "a"}', "is beyond 64 bits"),
    "huge integer elsewhere": ('{"_id": "d1", "text": "a", "year": ' + "9" * 30 + "}", "is beyond 64 bits"),
    "NaN": ('{"_id": "d1", "text": "a", "x": NaN}', "NaN is no number of JSON"),
    "1e999": ('{"_id": "d1", "text": "a", "x": 1e999}', "beyond 64 bits"),
    "nested deep": ("[" * 100_000, "nested too deep"),
    "nested deep in a record": ('{"_id": "d1", "text": ' + '{"a":' * 100_000, "nested too deep"),
    "a list": ('["d1", "a"]', "a JSON object is wanted, not list"),
    "a number": ("1", "a JSON object is wanted, not int"),
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
        ('{"_id": "q1", "text": null}', "'text' must be text"),
        ('{"_id": "q1", "text": "\\u00a0"}', "query q1 has no text"),
        ('{"_id": "q1"}', "query q1 has no text"),
        ('{"_id": "q 1", "text": "a"}', "holds white space"),
        ('{"_id": "q1", "text": "a", "text": "a"}', "stands twice"),
    ],
)
def test_a_query_that_is_refused(tmp_path, line, said):
    assert f"queries.jsonl:1: {said}" in refusal("beir", tmp_path, {"x/queries.jsonl": line + "\n"}).replace("key 'text' ", "").replace(
        "the query id 'q 1' ", "")  # fmt: skip


@pytest.mark.parametrize(
    ("line", "said"),
    [("q1\td 1\t1", "the document id 'd 1' holds white space"), ("q1\t\t1", "the document id '' is empty"),
     ("q1\td1\t1_0", "grade '1_0' is not an integer"), ("q1\td1\t99999999999", "is beyond 1,000,000"),
     ("q1\td1\x01\t1", "the document id 'd1\\x01' holds a control character"), ("q1\td1\t1\t1", "4 columns"), ("q1 d1 1", "1 columns")],
)  # fmt: skip
def test_a_line_of_beirs_qrels_that_is_refused(tmp_path, line, said):
    assert f"test.tsv:2: {said}" in refusal("beir", tmp_path, {"x/qrels/test.tsv": f"q2\td1\t1\n{line}\n"}).replace("grade '99999999999' ", "")


MARKUP = {
    "no closing tag": ("docs/a", SGML.replace("</DOC>", "", 1), "docs/a:6: a <DOC> begins before that of line 1"),
    "no closing tag at the end": ("docs/a", SGML[:-8], "a <DOC> has no </DOC>"),
    "no opening tag": ("docs/a", SGML.replace("</DOC>\n<DOC>\n", "</DOC>\n", 1), "docs/a:6: this stands in no document"),
    "two in one line": ("docs/a", "<DOC><DOCNO>1</DOCNO></DOC><DOC><DOCNO>2</DOCNO></DOC>\n", "docs/a:1: two documents in one <DOC>"),
    "two numbers": ("docs/a", SGML.replace("<TITLE>", "<DOCNO>9</DOCNO><TITLE>"), "docs/a:1: two documents in one"),
    "text between": ("docs/a", SGML.replace("</DOC>\n", "</DOC>\nlost\n", 1), "docs/a:6: this stands in no document"),
    "no documents": ("docs/a", "<html>\n<body>\n</body>\n</html>\n", "docs/a:1: not one <DOC>"),
    "number not closed": ("docs/a", SGML.replace("</DOCNO>", "", 1), "docs/a:1: the document (<DOCNO>) has no id"),
    "number with a space": ("docs/a", SGML.replace("F2", "F 2"), "holds white space"),
    "neither": ("docs/a", "hello\n", "neither TREC markup"),
    "topic not closed": ("topics", TOPICS.replace("</top>\n", "", 1), "topics:6: a topic begins before that of topics:1 has ended"),
    "last topic not closed": ("topics", TOPICS[:-7], "topics:7: a topic has no end"),
    "topic not begun": ("topics", TOPICS + "</top>\n", "topics:11: a topic ends that has not begun"),
    "topic number twice": ("topics", TOPICS.replace("<num> 2", "<num> 1"), "topics:7: query id 1 stands twice"),
    "two numbers in a topic": ("topics", TOPICS.replace("<title> polio", "<num> 3\n<title> polio"), "topics:7: two numbers in one topic"),
    "topic without number": ("topics", TOPICS.replace("<num> 2", ""), "topics:7: the topic has no id"),
    "topic without text": ("topics", TOPICS.replace(" polio", ""), "topics:7: query 2 has no text"),
    "no topics": ("topics", "<topics>\n</topics>\n", "topics:1: neither TREC topics"),
    "three columns": ("topics", "1\ta\tb\n", "topics:1: 3 columns"),
    "empty topics": ("topics", "", "query 1 is judged but has no text"),
    "no judgements": ("qrels", "", "not one judged query"),
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
    assert len(list(trec.read_documents(tmp_path / "a"))) == 1
    assert time.process_time() - started < 5


PATTERNS = {
    "out of the location": ("../secret*", "leads out of its folder"),
    "out inside": ("docs/../../*", "leads out of its folder"),
    "absolute": ("/etc/*", "is absolute"),
    "empty": ("", "names no file"),
    "dot": (".", "names no file"),
    "a folder": ("docs", "matches no file but folders"),
    "a folder with slash": ("docs/", "names no file"),
    "all folders": ("**", "matches no file but folders"),
    "nothing": ("doc/*.sgml", "matches no file"),
    "bad stars": ("docs/**a", "is no pattern"),
    "newline": ("docs/*\n", "holds a control character"),
    "NUL": ("docs/\0", "holds a control character"),
    "backslash": ("docs\\*", "holds a backslash"),
    "very long": ("a" * 5000, "holds a name of more than 255 bytes"),
}


@pytest.mark.parametrize("among", [False, True], ids=["alone", "among others"])
@pytest.mark.parametrize(("pattern", "said"), PATTERNS.values(), ids=PATTERNS)
def test_patterns_of_documents_that_are_refused(tmp_path, pattern, said, among):
    write(tmp_path, {"secret.sgml": SGML})
    found = refusal("trec", tmp_path / "in", {}, documents=[*["docs/*"] * among, pattern])
    assert found.startswith("documents: ") and said in found


@pytest.mark.parametrize("key", ["topics", "qrels"])
@pytest.mark.parametrize("name", ["../topics", "/etc/passwd", "", "a/../../b", "x\ny"])
def test_names_of_files_that_lead_out_are_refused(tmp_path, key, name):
    assert refusal("trec", tmp_path / "in", {}, **{key: {"test": name}}).startswith(f"{key}.test: the path")
    if key == "qrels":
        assert refusal("qrels", tmp_path / "in", {}, qrels={"test": name}).startswith("qrels.test: the path")
        assert refusal("checkthat", tmp_path / "in", {}, parts={"test": name}).startswith("parts.test: the path")


def test_a_users_own_folder_may_hold_links_and_an_archive_may_not(tmp_path):
    write(tmp_path, {f"elsewhere/{name}": content for name, content in TREC.items()})
    (tmp_path / "in").mkdir()
    for name in ("docs", "topics", "qrels"):
        (tmp_path / "in" / name).symlink_to(tmp_path / "elsewhere" / name)
    assert [one.id for one in read_all("trec", tmp_path / "in")[0]] == ["F1", "F2", "j1"]
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as archive:
        archive.add(tmp_path / "in", "in")
    with pytest.raises(UserError, match="is a link; unpack it yourself"), opened(tmp_path / "a.tgz"):
        pytest.fail("unpacked")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "UTF-16", "empty"])
def test_a_file_of_another_kind_is_refused_and_does_not_hang(tmp_path, name, kind):
    for file in FORMATS[name][1]:
        if kind == "folder" and file.startswith("docs/"):
            continue  # a pattern passes over folders
        folder = write(tmp_path / file.replace("/", "-"), FORMATS[name][1])
        (folder / file).unlink()
        if kind == "pipe":
            os.mkfifo(folder / file)
        elif kind == "folder":
            (folder / file).mkdir()
        elif kind == "device":
            (folder / file).symlink_to("/dev/zero")
        else:
            (folder / file).write_bytes("q1 0 d1 1\n".encode("utf-16") if kind == "UTF-16" else b"")
        with pytest.raises(UserError) as error:
            if not read_all(name, folder)[0]:
                raise UserError("the corpus has not one document")  # what prepare says of it
        assert "\n" not in str(error.value)


SHAPES = {
    "train.json.gz": [[], {"0": []}, {"0": {}}, {"0": QUESTION | {"answers": "1"}}, {"0": QUESTION | {"answers": []}},
                      {"0": QUESTION | {"answers": [None]}}, {"0": QUESTION | {"answers": [["1"]]}}, {"0": QUESTION | {"en": None}},
                      {"0": QUESTION | {"en": " "}}, {"0": QUESTION | {"domain": 1}}, {"a b": QUESTION}, {"a\nb": QUESTION}, None],
    "answers.json.gz": [[], {"1": {"zh": "x"}}, {"1": "text"}, {"1": {"en": 0}}],
}  # fmt: skip


@pytest.mark.parametrize(("file", "content"), [(file, one) for file, all_ in SHAPES.items() for one in all_], ids=repr)
def test_insuranceqa_of_another_shape_is_refused(tmp_path, file, content):
    assert file.removesuffix(".gz") in refusal("insuranceqa", tmp_path, {file: packed(content)})


@pytest.mark.parametrize("key", ["a\nb", "a\x1b"])
def test_a_key_of_emnlps_with_a_control_character_is_refused(tmp_path, key):
    assert "holds a control character" in refusal("emnlp2020", tmp_path, {"P/article_mapped.json": json.dumps({key: 0})})


def test_insuranceqa_is_read_to_the_last_byte(tmp_path):
    whole = INSURANCE["answers.json.gz"]
    for damaged in (whole[:-1], whole[:-8] + bytes(4) + whole[-4:], whole[: len(whole) // 2], whole + b"x"):
        refusal("insuranceqa", tmp_path, {"answers.json.gz": damaged})


def settings(name, **changes):
    fixed = {"splits": {}, "split_by": "queries", "drop_shared": False, "seed": 1, "strict": False}
    return fixed | FORMATS[name][2] | {"format": name} | changes


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"x/corpus.jsonl": ""}, "the corpus has not one document"),
        ({"x/corpus.jsonl": '{"_id": "d1"}\n{"_id": "2", "text": " "}\n'}, "not one document has a text"),
        ({"x/corpus.jsonl": '{"_id": "d1", "text": "a"}\n{"_id": "d1", "text": "a"}\n'}, "document id d1 stands twice"),
        ({"x/corpus.jsonl": '{"_id": 1, "text": "a"}\n{"_id": "1", "text": "b"}\n'}, "document id 1 stands twice"),
        ({"x/corpus.jsonl": '{"_id": "z", "text": "a"}\n'}, "test: not one of 2 judgements names a document of the corpus"),
        ({"y/corpus.jsonl": "{}"}, "corpus.jsonl stands in several folders: x, y"),
    ],
)
def test_a_dataset_that_is_refused_as_a_whole_leaves_nothing(tmp_path, files, said):
    source = write(tmp_path / "in", BEIR | files)
    with pytest.raises(UserError, match=said) as error:
        prepare(source, tmp_path / "out", settings("beir"))
    assert str(error.value).startswith(f"{source}: ") and os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_a_location_that_is_no_file_is_refused_and_does_not_hang(tmp_path, kind):
    os.mkfifo(tmp_path / "pipe")
    location = {"pipe": tmp_path / "pipe", "device": "/dev/zero", "socket": "/dev/null"}[kind]
    for name in ("beir", "qrels"):
        with pytest.raises(UserError, match=r"a (pipe|device); wanted is a regular file"):
            prepare(type(tmp_path)(location), tmp_path / "out", settings(name))


@pytest.mark.parametrize("line", ['{"_id": "d1", "title": "", "text": "a"', '{"_id": "d1", "title": ""}', "[]", '{"text": "a"}', "{", '{"_id": "d'])
def test_a_prepared_file_that_was_damaged_is_told(tmp_path, line):
    write_corpus(tmp_path / "c", [Document("d0", "", "a")])
    with open(tmp_path / "c", "a") as file:
        file.write(line + "\n")
    for read in (read_corpus, lambda path: read_queries(path).items()):
        with pytest.raises(UserError, match=r"c:2: not as it was written"):
            list(read(tmp_path / "c"))
    assert next(read_ids(tmp_path / "c")) == "d0"
    if not line.startswith('{"_id": "d1'):
        with pytest.raises(UserError, match=r"c:2: not as it was written"):
            list(read_ids(tmp_path / "c"))


def test_whole_numbers_are_ids_and_texts_are_kept_as_they_are(tmp_path):
    assert (identifier(7, "x", "query"), identifier(-1, "x", "query")) == ("7", "-1")
    (tmp_path / "c").write_text('\ufeff{"_id": "d", "text": "a\\u0000\\ud83d\\ude00\\u2028b"}\r\n')
    assert list(json_lines(tmp_path / "c")) == [(1, {"_id": "d", "text": "a\0😀\u2028b"})]
