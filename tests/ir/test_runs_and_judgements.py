"""Runs and judgements: read as trec_eval reads them or refused, and never those of other data."""

import math

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus
from ranktrial.ir.trec import HIGHEST_GRADE, LARGEST_SCORE, ranking, read_qrels, read_run, write_run
from scripts.evaluation.imports import take_over
from tests.support.beir import write_beir
from tests.support.prepared import prepare


def refusal(read, path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError) as error:
        read(path)
    assert "\n" not in str(error.value) and str(error.value).startswith(f"{path}:")
    return str(error.value).removeprefix(f"{path}:")


BAD_SCORES = {
    "1e39": "is beyond 32 bits",
    "-3.5e38": "is beyond 32 bits",
    "1e999": "is beyond 32 bits",
    "nan": "is not finite",
    "-inf": "is not finite",
    "Infinity": "is not finite",
    "1_000": "is not a number",
    "1_0e39": "is not a number",
    "١٢": "is not a number",
    "\uff11": "is not a number",
    "0,5": "is not a number",
    "0x1p3": "is not a number",
    "12%": "is not a number",
    "score": "is not a number",
    "1.5.2": "is not a number",
    "9" * 5000: "is beyond 32 bits",
    "x" * 5000: "is not a number",
}


@pytest.mark.parametrize(("score", "said"), BAD_SCORES.items(), ids=lambda value: value[:12])
@pytest.mark.parametrize("form", ["q1 Q0 d1 1 {} t\n", "q1\td1\t1\t{}\n"], ids=["six columns", "four columns"])
def test_a_score_that_is_refused(tmp_path, score, said, form):
    found = refusal(read_run, tmp_path / "r", "q0 Q0 d1 1 0.5 t\n".replace("q0 Q0", "q0" if "\t" in form else "q0 Q0").replace(
        " t\n", "\n" if "\t" in form else " t\n") + form.format(score))  # fmt: skip
    assert found.startswith("2: score") and said in found and len(found) < 200


BAD_RUNS = {
    "a heading": ("qid Q0 docid rank score tag\n", "1: score 'score' is not a number"),
    "an id with a space": ("q 1 Q0 d1 1 0.5\n", "1: rank 'd1' is not a number: does an id hold a space?"),
    "columns in another order": ("q1 Q0 1 d1 0.5 t\n", "1: rank 'd1' is not a number"),
    "five columns": ("q1 Q0 d1 1 0.5\n", "1: 5 columns"),
    "seven columns": ("q1 Q0 d1 1 0.5 t u\n", "1: 7 columns"),
    "commas": ("q1,Q0,d1,1,0.5,t\n", "1: 1 columns"),
    "six columns, then four": ("q1 Q0 d1 1 0.5 t\nq1 d2 2 0.4\n", "2: 4 columns, but the lines above have 6"),
    "four columns, then six": ("q1 d2 2 0.4\nq1 Q0 d1 1 0.5 t\n", "2: 6 columns, but the lines above have 4"),
    "a document twice": ("q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n", "3: duplicate document d1 for query q1"),
    "NUL in an id": ("q1 Q0 d\x001 1 0.5 t\n", "1: a NUL character"),
    "control character in an id": ("q1 Q0 d\x011 1 0.5 t\n", "1: a control character, '\\x01'"),
    "U+001C in an id": ("q1 Q0 d\x1c1 1 0.5 t\n", "1: a control character, '\\x1c'"),
    "U+0085 in an id": ("q1 Q0 d\x851 1 0.5 t\n", "1: a control character, '\\x85'"),
    "U+00A0 between columns": ("q1\xa0Q0\xa0d1\xa01\xa00.5\xa0t\n", "1: 1 columns"),
    "line ends of old Macs": ("q1 Q0 d1 1 2 t\rq1 Q0 d2 2 1 t\r", "1: 12 columns"),
    "UTF-16": ("q1 Q0 d1 1 0.5 t\n".encode("utf-16"), "1: UTF-16 text"),
    "Latin-1": (b"q1 Q0 d1 1 0.5 t\nq1 Q0 \xe9 1 0.5 t\n", "2: not UTF-8 text"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "said"), BAD_RUNS.values(), ids=BAD_RUNS)
def test_a_run_that_is_refused(tmp_path, content, said):
    assert refusal(read_run, tmp_path / "r", content).startswith(said)


BAD_GRADES = ["1.5", "1_0", "٣", "x", "1e3", "0x1", "", str(HIGHEST_GRADE + 1), "2147483647", "4294967297", "-1000001",
              "9223372036854775808", "9" * 5000, "+-1"]  # fmt: skip


@pytest.mark.parametrize("grade", BAD_GRADES, ids=lambda grade: grade[:20])
def test_a_grade_that_is_refused(tmp_path, grade):
    """Beyond 31 bits trec_eval's code gives 0 for nDCG and AP, without a word."""
    content = f"q0 0 d1 1\nq1 0 d1 {grade}\n"
    found = refusal(read_qrels, tmp_path / "q", content)
    wanted = "2: 3 columns" if not grade else "2: grade"
    assert found.startswith(wanted) and len(found) < 200


BAD_QRELS = {
    "three columns": ("q1 d1 1\n", "1: 3 columns"),
    "an id with a space": ("q1 0 d 1 1\n", "1: 5 columns"),
    "judged twice": ("q1 0 d1 1\nq1 0 d1 0\n", "2: document d1 is judged 0 for query q1, earlier 1"),
    "control character": ("q1 0 d\x1f1 1\n", "1: a control character"),
    "U+00A0 between columns": ("q1\xa00\xa0d1\xa01\n", "1: 1 columns"),
    "a long id": (f"q1 0 {'d' * 5000} 1\n", "1: the document id"),
    "NUL": ("q1 0 d\x00 1\n", "1: a NUL character"),
}


@pytest.mark.parametrize(("content", "said"), BAD_QRELS.values(), ids=BAD_QRELS)
def test_qrels_that_are_refused(tmp_path, content, said):
    assert refusal(read_qrels, tmp_path / "q", content).startswith(said)


@pytest.mark.parametrize(
    "space", ["\xa0", "\u2003", "\u3000", "\ufeff", "\u200b"], ids=lambda space: f"U+{ord(space):04X}"
)
def test_only_ascii_white_space_parts_columns(tmp_path, space):
    (tmp_path / "r").write_text(f"q1 Q0 d{space}1\t1  3.4e38 t\nq1 q0 d2 x2 -1 t\n".replace("x2", "2.0"))
    assert read_run(tmp_path / "r") == {"q1": {f"d{space}1": 3.4e38, "d2": -1.0}}
    write_run(tmp_path / "again", read_run(tmp_path / "r"), "t")
    assert read_run(tmp_path / "again") == read_run(tmp_path / "r")
    (tmp_path / "q").write_text(f"q1 0 d{space}1 {HIGHEST_GRADE}\nq1\t0\td2\t-2\n")
    assert read_qrels(tmp_path / "q") == {"q1": {f"d{space}1": HIGHEST_GRADE, "d2": -2}}


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 1e39, -1e39])
def test_no_score_without_a_place_in_the_order_is_ranked_or_written(tmp_path, score):
    with pytest.raises(UserError, match=r"the score of document b is .* not a finite number of 32 bits"):
        ranking({"a": 1.0, "b": score})
    with pytest.raises(UserError):
        write_run(tmp_path / "r", {"q": {"a": 1.0, "b": score}}, "t")
    assert not (tmp_path / "r").exists() and ranking({"a": LARGEST_SCORE, "b": -LARGEST_SCORE}) == ["a", "b"]


def external(folder, run, corpus=("d1", "d2", "d 3")):
    (folder / "theirs").write_text(run)
    (folder / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    write_corpus(folder / "corpus", (Document(name, "", "text") for name in corpus))
    return take_over(folder / "theirs", folder / "qrels", folder / "out", 10, "t", folder / "corpus")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("q1 Q0 x1 1 2 t\nq2 Q0 x2 1 2 t\n", "theirs: none of its 2 documents, such as x1, is in the corpus"),
        ("q8 Q0 d1 1 2 t\n", "theirs: none of its 1 queries is in the task's qrels"),
        ("", "theirs: an empty run"),
        ("\n\n", "theirs: an empty run"),
    ],
)
def test_a_run_of_other_data_is_refused(tmp_path, run, said):
    with pytest.raises(UserError, match=said):
        external(tmp_path, run)
    assert not (tmp_path / "out").exists()


def test_documents_of_a_run_that_the_corpus_lacks_are_counted(tmp_path):
    assert external(tmp_path, "q1 Q0 d1 1 2 t\nq1 Q0 x 2 1 t\n") == ["1 of its 2 documents are not in the corpus"]
    assert external(tmp_path, 'q1 Q0 d"1\\ 1 2 t\nq1 Q0 d1 2 1 t\n', corpus=['d"1\\', "é", "d1"]) == []


def dataset(folder, qrels, corpus=4, texts=lambda query: f"ask {query}"):
    queries = sorted({line.split("\t")[0] for judged in qrels.values() for line in judged})
    documents = {f"d{n}": f"text {n}" for n in range(corpus)}
    return write_beir(folder / "in", documents, {query: texts(query) for query in queries}, qrels, heading="")


def settings(**changes):
    fixed = {"format": "beir", "splits": {}, "split_by": "queries", "drop_shared": False, "seed": 1, "strict": False}
    return fixed | changes


A, B, C = "q1\td1\t1", "q2\td2\t1", "q3\td3\t1"
LEAKS = {
    "test is train": ({"train": [A, B], "test": [A, B]}, "2 of 2 queries of test are in train"),
    "one test query is in train": (
        {"train": [A, B], "test": [B, C]},
        "1 of 2 queries of test are in train with the same judgements, such as q2",
    ),
    "test is dev": ({"dev": [A, B], "test": [B, A]}, "2 of 2 queries of test are in dev"),
    "dev is train": ({"train": [A, B], "dev": [A], "test": [C]}, "1 of 1 queries of dev are in train"),
}


@pytest.mark.parametrize(("qrels", "said"), LEAKS.values(), ids=LEAKS)
def test_test_judgements_that_are_training_judgements_are_refused(tmp_path, qrels, said):
    with pytest.raises(UserError, match=f"{said}.*drop_shared"):
        prepare(dataset(tmp_path, qrels), tmp_path / "out", settings())
    assert not (tmp_path / "out").exists()


def test_the_same_queries_under_other_ids_are_refused(tmp_path):
    other = ["x1\td1\t1", "x2\td2\t1"]
    source = dataset(tmp_path, {"train": [A, B, C], "test": other}, texts=lambda query: f"ask {query[1:]}")
    with pytest.raises(UserError, match="every query of train or test is in the other as well"):
        prepare(source, tmp_path / "out", settings())


def test_judgements_alone_are_held_to_it_as_well(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("q1 0 d1 1\n")
    with pytest.raises(UserError, match="1 of 1 queries of test are in train"):
        prepare(tmp_path, tmp_path / "out", settings(format="qrels", qrels={"train": "a", "test": "b"}))


def test_shared_queries_with_other_judgements_are_reported_and_under_strict_refused(tmp_path):
    source = dataset(tmp_path, {"train": [A, B], "test": ["q1\td3\t1"]})
    assert prepare(source, tmp_path / "out", settings()) == [
        "warning: 1 queries are in both train and test, with different judgements"
    ]
    with pytest.raises(UserError, match="strict: 1 queries are in both train and test"):
        prepare(source, tmp_path / "no", settings(strict=True))


@pytest.mark.parametrize("split", ["train", "test"])
def test_judgements_of_other_documents_are_refused(tmp_path, split):
    qrels = {"train": [A], "test": [B]} | {split: ["q9\tx1\t1", "q8\tx2\t0"]}
    with pytest.raises(UserError, match=f"{split}: none of the 2 judgements names a document of the corpus"):
        prepare(dataset(tmp_path, qrels), tmp_path / "out", settings())
    assert not (tmp_path / "out").exists()
