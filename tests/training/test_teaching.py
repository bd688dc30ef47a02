"""Learning from a teacher: which pairs it scores, how its scores label the examples, trainings, and mistakes."""

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.trec import read_run, write_run
from ranktrial.models.adapters import adapter, adapters
from ranktrial.training.examples import Row, columns, labelled_by, read_table
from scripts.training import pairs
from scripts.training.pairs import paired
from tests.support.tiny_bert import build
from tests.support.tiny_task import WORDS, read_log, train, write_good_and_bad

ROWS = [Row("q", "a", "x"), Row("q", "a", "y"), Row("q", "b", "x"), Row("r", "y", "x")]
SCORES = {"q": {"a": 4.5, "b": 0.25, "x": -1.0, "y": -7.0}, "r": {"y": 2.0, "x": 3.0}}


def test_a_teacher_scores_each_pair_of_the_examples_once():
    assert paired(ROWS) == {"q": {"a": 4, "b": 3, "x": 2, "y": 1}, "r": {"y": 2, "x": 1}}


def test_lists_have_a_score_of_each_document_and_pairs_one(tmp_path):
    write_run(tmp_path / "scores", SCORES, "teacher")
    assert labelled_by(columns(ROWS, "lists"), tmp_path / "scores") == {
        "anchor": ["q", "q", "r"], "positive": ["a", "b", "y"], "negative_1": ["x", "x", "x"],
        "negative_2": ["y", "x", "x"],  # short lists are filled with their own negatives, and these ones' scores
        "label": [[4.5, -1.0, -7.0], [0.25, -1.0, -1.0], [2.0, 3.0, 3.0]],
    }  # fmt: skip
    labelled = labelled_by(columns(ROWS, "pairs"), tmp_path / "scores")
    assert dict(zip(zip(labelled["query"], labelled["document"], strict=True), labelled["label"], strict=True)) == {
        (query, document): score for query, of_query in SCORES.items() for document, score in of_query.items()
    }
    write_run(tmp_path / "others", {"q": SCORES["q"]}, "teacher")
    with pytest.raises(UserError, match="others: the teacher has no score of document y for query r; these") as error:
        labelled_by(columns(ROWS, "lists"), tmp_path / "others")
    assert "\n" not in str(error.value)


@pytest.fixture(scope="module")
def scores(task, tmp_path_factory):
    """A teacher who finds each query's first negative better than its positive, and the second worse."""
    run: dict[str, dict[str, float]] = {}
    for place, row in enumerate(read_table(task / "negatives.tsv").rows):
        run.setdefault(row.query, {})[row.positive] = 0.0
        run[row.query][row.negative] = 3.0 if place % 2 == 0 else -3.0
    write_run(tmp_path_factory.mktemp("teacher") / "teacher.trec", run, "teacher-0")
    return tmp_path_factory.getbasetemp() / "teacher0" / "teacher.trec"


def trained(task, out, scores, **settings):
    return train(task, out, {"scores": scores} if scores else {}, teacher="ce", **settings)


@pytest.mark.parametrize(
    ("kind", "loss"), [(name, loss) for name, kind in adapters().items() for loss in getattr(kind, "DISTILLED", {})]
)
def test_every_loss_with_a_teacher_trains(task, scores, tmp_path, kind, loss):
    timing = trained(task, tmp_path, scores, type=kind, loss=loss, epochs=0.5, micro_batch=3)
    assert timing["loss"] == loss and timing["teacher"] == "ce" and "temperature" not in timing
    scale = {"bi-encoder": 20, "cross-encoder": None}.get(kind, 1)
    assert timing.get("scale") == scale  # as it was put, where none was given
    assert all(np.isfinite(float(row["loss"])) for row in read_log(tmp_path))


@pytest.fixture(scope="module")
def opinions(tmp_path_factory):
    """Documents that the labels hold for relevant begin with `bad`, and the teacher prefers those that begin with `good`."""
    folder = tmp_path_factory.mktemp("opinions")
    build(folder / "start", [" ".join([*WORDS, "good", "bad", "tree"])], seed=1)
    write_good_and_bad(folder)
    rows = [f"q{n}\tbad{n}\tgood{(n + shift) % 20}\tbm25\t\n" for n in range(12) for shift in (0, 5)]
    (folder / "negatives.tsv").write_text("query_id\tpositive_id\tnegative_id\tsource\tbm25_rank\n" + "".join(rows))
    of_query = {f"q{n}": {f"bad{n}": -1.0, f"good{n}": 3.0, f"good{(n + 5) % 20}": 2.0} for n in range(12)}
    write_run(folder / "teacher.trec", of_query, "teacher-0")
    return folder


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        ("bi-encoder", "DistillKLDivLoss"),
        ("cross-encoder", "DistillKLDivLoss"),
        pytest.param("cross-encoder", "MSELoss", marks=pytest.mark.long),
    ],
)
def test_a_student_learns_what_the_teacher_thinks_and_not_the_labels(opinions, tmp_path, kind, loss):
    trained(opinions, tmp_path, opinions / "teacher.trec", type=kind, loss=loss, epochs=15)
    queries = [f"{word} tree" for word in WORDS[12:]]  # other ones than those learnt from
    scores = {}
    for sort in ("good", "bad"):
        documents = [f"{sort} {word}" for word in WORDS[12:]]
        if kind == "cross-encoder":
            scorer = adapter(kind).load_scorer(tmp_path / "model", 16, 8, "torch")
            scores[sort] = scorer.score(list(zip(queries, documents, strict=True)))
        else:
            model = adapter(kind).load(tmp_path / "model", 16)
            asked, found = (
                adapter(kind).encode(model, texts, 8, role)
                for texts, role in ((queries, "query"), (documents, "document"))
            )
            scores[sort] = (asked * found).sum(axis=1)
    assert (scores["good"] > scores["bad"]).all()


def test_a_teacher_and_its_scores_go_together(task, tmp_path):
    with pytest.raises(UserError, match="a teacher and its --scores go together"):
        trained(task, tmp_path, None)


def test_the_pairs_of_a_file_of_examples(task, tmp_path):
    pairs.collect_pairs(task / "negatives.tsv", tmp_path / "pairs.trec.gz")
    listed = read_run(tmp_path / "pairs.trec.gz")
    rows = read_table(task / "negatives.tsv").rows
    assert {(query, one) for query, of_query in listed.items() for one in of_query} == {
        (row.query, one) for row in rows for one in (row.positive, row.negative)
    }
