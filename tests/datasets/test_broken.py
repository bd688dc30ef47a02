"""Datasets of every format, broken on purpose: one line that names the place, and no half of a corpus."""

import gzip
import json
import os
import random
import tarfile

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.unpacking import opened
from ranktrial.datasets.formats import identifier
from ranktrial.ir.collection import Document, json_lines, read_corpus, read_ids, read_queries, write_corpus
from tests.support.broken import BEIR, FORMATS, INSURANCE, QUESTION, SGML, TREC, packed, read_all, refusal, write
from tests.support.one_line import refused
from tests.support.prepared import prepare


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
    "bad stars": ("docs/**a", "is not a pattern"),
    "newline": ("docs/*\n", "contains a control character"),
    "NUL": ("docs/\0", "contains a control character"),
    "backslash": ("docs\\*", "contains a backslash"),
    "very long": ("a" * 5000, "contains a name of more than 255 bytes"),
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
        with refused():
            if not read_all(name, folder)[0]:
                raise UserError("the corpus has no document")  # what prepare says of it


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
    assert "contains a control character" in refusal(
        "emnlp2020", tmp_path, {"P/article_mapped.json": json.dumps({key: 0})}
    )


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
        ({"x/corpus.jsonl": ""}, "the corpus has no document"),
        ({"x/corpus.jsonl": '{"_id": "d1"}\n{"_id": "2", "text": " "}\n'}, "2 of 2 documents have no text; expected the key text, found _id, text"),
        ({"x/corpus.jsonl": '{"_id": "d1", "text": "a"}\n{"_id": "d1", "text": "a"}\n'}, "duplicate document id d1"),
        ({"x/corpus.jsonl": '{"_id": 1, "text": "a"}\n{"_id": "1", "text": "b"}\n'}, "duplicate document id 1 "),
        ({"x/corpus.jsonl": '{"_id": "z", "text": "a"}\n'}, "test: none of the 2 judgements names a document of the corpus"),
        ({"y/corpus.jsonl": "{}"}, "corpus.jsonl lies in several folders: x, y"),
    ],
)  # fmt: skip
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
        with pytest.raises(UserError, match=r"a (pipe|device); expected a regular file"):
            prepare(type(tmp_path)(location), tmp_path / "out", settings(name))


@pytest.mark.parametrize(
    "line",
    ['{"_id": "d1", "title": "", "text": "a"', '{"_id": "d1", "title": ""}', "[]", '{"text": "a"}', "{", '{"_id": "d'],
)
def test_a_prepared_file_that_was_damaged_is_reported(tmp_path, line):
    write_corpus(tmp_path / "c", [Document("d0", "", "a")])
    with open(tmp_path / "c", "a") as file:
        file.write(line + "\n")
    for read in (read_corpus, lambda path: read_queries(path).items()):
        with pytest.raises(UserError, match=r"c:2: was changed or damaged"):
            list(read(tmp_path / "c"))
    assert next(read_ids(tmp_path / "c")) == "d0"
    if not line.startswith('{"_id": "d1'):
        with pytest.raises(UserError, match=r"c:2: was changed or damaged"):
            list(read_ids(tmp_path / "c"))


def test_whole_numbers_are_ids_and_texts_are_kept_as_they_are(tmp_path):
    assert (identifier(7, "x", "query"), identifier(-1, "x", "query")) == ("7", "-1")
    (tmp_path / "c").write_text('\ufeff{"_id": "d", "text": "a\\u0000\\ud83d\\ude00\\u2028b"}\r\n')
    assert list(json_lines(tmp_path / "c")) == [(1, {"_id": "d", "text": "a\0😀\u2028b"})]
