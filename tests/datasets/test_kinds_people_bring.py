"""Kinds of judgements, topics, hub files and runs that people bring: each is read with the same result, or refused
with what differs."""

import itertools
import json

import pytest

from ranktrial.common.errors import UserError, alike
from ranktrial.datasets.formats import hub
from ranktrial.datasets.formats._judgements import read_by_subtopic, read_judgements
from ranktrial.datasets.formats._trec_topics import read_topics
from ranktrial.ir.runs import rises_with_rank
from ranktrial.ir.trec import write_qrels
from scripts.evaluation.imports import take_over
from tests.support.broken import write
from tests.support.one_line import refused

JUDGED = {"q1": {"d1": 1}, "q2": {"d2": 1}}
TOPICS = {"20": "obama family tree", "21": "poker"}


@pytest.mark.parametrize(
    "content",
    [
        "# judged in 2019\nq1 0 d1 1\n#\n# a comment 5\nq2 0 d2 1\n",
        "query-id\tcorpus-id\tscore\n# a comment\nq1\td1\t1\nq2\td2\t1.0\n",
        "# a comment\nquery-id\tcorpus-id\nq1\td1\nq2\td2\n",
        "q1\t0\td1\t1\nq2\t0\td2\t1\n",
        "\ufeffq1 0 d1 1\r\nq2 0 d2 1\r\n",
    ],
)
def test_judgements_that_are_read(tmp_path, content):
    (tmp_path / "qrels").write_text(content)
    assert read_judgements(tmp_path / "qrels") == JUDGED


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("#q1 0 d1 1\n", ":1: begins with # and has the columns of a judgement"),
        ("q1\td1\nq2\td2\n", ":1: 2 columns, but a file of judgements has"),
        ("q1 1 d1 1\nq1 2 d1 0\n", "the second column has 1, 2 …: are these subtopics (subtopics: true)?"),
    ],
)
def test_judgements_that_are_refused(tmp_path, content, said):
    (tmp_path / "qrels").write_text(content)
    with refused(said):
        read_judgements(tmp_path / "qrels")


def test_comments_between_judgements_by_subtopic(tmp_path):
    (tmp_path / "qrels").write_text("# two\nq1 1 d1 1\nq1 2 d1 0\n")
    assert set(read_by_subtopic(tmp_path / "qrels")) == {"1", "2"}


@pytest.mark.parametrize(
    "content",
    [
        "20:obama family tree\n21:poker\n",
        "20:1:obama family tree\n21:4:poker\n",
        "20\tobama family\ttree\n21\tpoker\n",
        "qid\tquery\n20\tobama family tree\n21\tpoker\n",
    ],
)
def test_topics_in_lines(tmp_path, content):
    (tmp_path / "topics").write_text(content)
    assert read_topics(tmp_path / "topics", "title") == TOPICS


def test_a_text_that_begins_with_a_digit_keeps_it_where_others_have_none(tmp_path):
    (tmp_path / "topics").write_text("20:1:1 odds\n21:poker\n")
    assert read_topics(tmp_path / "topics", "title") == {"20": "1:1 odds", "21": "poker"}


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("subset", [None, "NanoX"])
def test_a_hub_collection_without_splits_and_without_grades_is_the_test_split(tmp_path, split, subset):
    """NanoBEIR: pairs of relevant documents, and `train` as the hub's name for data without splits."""
    parts = {
        "corpus": [{"_id": "d1", "text": "a"}, {"_id": "d2", "text": "b"}],
        "queries": [{"_id": "q1", "text": "a"}, {"_id": "q2", "text": "b"}],
        "qrels": [{"query-id": query, "corpus-id": document} for query, of in JUDGED.items() for document in of],
    }
    files = {
        f"{name}/{subset or split}-00000-of-00001.jsonl": "".join(json.dumps(row) + "\n" for row in rows)
        for name, rows in parts.items()
    }
    found = hub.read(write(tmp_path, files), hub.Options(subset=subset))
    assert found.qrels == {"test": JUDGED}


def test_judgements_with_an_unknown_column_in_place_of_grades_are_refused(tmp_path):
    row = {"query-id": "q1", "corpus-id": "d1", "certainty": 0.5}
    files = {
        "corpus.jsonl": '{"_id": "d1", "text": "a"}\n',
        "queries.jsonl": '{"_id": "q1", "text": "a"}\n',
        "qrels/test.jsonl": json.dumps(row),
    }
    with pytest.raises(UserError, match="judgements need grade as score or relevance or label"):
        hub.read(write(tmp_path, files), hub.Options())


def a_run(of_rank, queries=3, ranks=5):
    pairs = itertools.product(range(queries), range(1, ranks + 1))
    return "".join(f"q{query} Q0 d{rank} {rank} {of_rank(query, rank)} t\n" for query, rank in pairs)


@pytest.mark.parametrize(
    ("of_rank", "rises"),
    [
        (lambda query, rank: rank / 7, True),
        (lambda query, rank: -rank, False),
        (lambda query, rank: 1.0, False),
        (lambda query, rank: rank if query else -rank, False),
        (lambda query, rank: -rank if query == 2 else rank, False),
    ],
)
def test_scores_that_rise_with_the_rank_in_every_query(tmp_path, of_rank, rises):
    (tmp_path / "run").write_text(a_run(of_rank))
    write_qrels(tmp_path / "qrels", {"q1": {"d1": 1}})
    assert rises_with_rank(tmp_path / "run") is rises
    said = take_over(tmp_path / "run", tmp_path / "qrels", tmp_path / "out", 10, "t")
    assert any(line.startswith("warning: its scores rise with its ranks") for line in said) is rises


def test_a_run_by_ranks_alone_has_no_scores_that_could_rise(tmp_path):
    (tmp_path / "run").write_text("".join(f"q d{rank} {rank}\n" for rank in range(1, 6)))
    assert not rises_with_rank(tmp_path / "run")


@pytest.mark.parametrize(
    ("text", "others", "said"),
    [
        ("q1", ["q2", "q1\u200b"], "'q1\\u200b' contains U+200B (ZERO WIDTH SPACE)"),
        ("q\xa01", ["q1"], "'q\\xa01' contains U+00A0 (NO-BREAK SPACE)"),
        ("q\u20101", ["q-1"], None),
        ("\uff211", ["A1"], "'A1' has U+0041 (LATIN CAPITAL LETTER A) in place of U+FF21 (FULLWIDTH"),
        ("012", ["12"], "there is '12'"),
        ("Q1", ["q1"], "there is 'q1'"),
        ("q1", ["q1"], None),
    ],
)
def test_how_texts_that_look_alike_differ(text, others, said):
    found = alike(text, others)
    assert found is None if said is None else found.startswith(said)


def test_a_run_whose_ids_differ_by_an_invisible_character_names_it(tmp_path):
    (tmp_path / "run").write_text("q1\ufeff Q0 d1 1 2.0 t\n")
    write_qrels(tmp_path / "qrels", {"q1": {"d1": 1}})
    with pytest.raises(UserError, match=r"contains U\+FEFF \(ZERO WIDTH NO-BREAK SPACE\)"):
        take_over(tmp_path / "run", tmp_path / "qrels", tmp_path / "out", 10, "t")
