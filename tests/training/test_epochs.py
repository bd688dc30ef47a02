"""Trainings with other rows in each epoch: which rows a batch holds, resuming in mid-epoch, and every shape."""

import pytest

from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait
from ranktrial.models.losses import LISTS, PAIRS, RANKED, TRIPLETS
from ranktrial.training.examples import Row, Table, columns, columns_of, read_table
from tests.support.tiny_task import kill, read_log, same, train, weights

HEADER = "query_id\tpositive_id\tnegative_id\tsource\tbm25_rank\tepoch"
EPOCHS = 3


@pytest.fixture(scope="module")
def drawn(task, tmp_path_factory):
    """The tiny task with one pair a query and epoch; ten queries, so three steps of four rows."""
    folder = tmp_path_factory.mktemp("drawn")
    for name in ("start", "corpus.jsonl", "queries.jsonl"):
        (folder / name).symlink_to(task / name)
    rows = [
        f"q{n}\td{n}\td{10 + (n + epoch) % 10}\tbm25\t\t{epoch}" for epoch in range(1, EPOCHS + 1) for n in range(10)
    ]
    (folder / "negatives.tsv").write_text("\n".join([HEADER, *rows, "q77\t\t\tnone\t\t"]) + "\n")
    return folder


@pytest.mark.parametrize("shape", [LISTS, TRIPLETS, PAIRS, RANKED])
def test_rows_of_epochs_stand_one_after_another(drawn, shape):
    table = read_table(drawn / "negatives.tsv")
    assert (len(table.epochs), table.queries, table.without_candidate) == (EPOCHS, 10, 1)
    made, single = columns_of(table, shape), [columns(rows, shape) for rows in table.epochs]
    assert made == {name: [v for of_epoch in single for v in of_epoch[name]] for name in single[0]}


def test_epochs_with_different_numbers_of_rows_are_refused():
    rows = [Row("q", "p", "n"), Row("q", "p", "m")]
    with pytest.raises(ValueError, match="different numbers of rows"):
        columns_of(Table([rows, rows[:1]], None), TRIPLETS)


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        ("bi-encoder", "MultipleNegativesRankingLoss"),
        ("bi-encoder", "TripletLoss"),
        ("cross-encoder", "MarginRankingLoss"),
        ("cross-encoder", "BinaryCrossEntropyLoss"),
        ("cross-encoder", "LambdaLoss"),
    ],
)
def test_each_epoch_is_trained_on_its_own_rows(drawn, tmp_path, monkeypatch, kind, loss):
    """What the loss is given, batch by batch, is the rows of the file, each once, in its epoch."""
    from ranktrial.training import trainer

    seen = []
    step = trainer.MicroBatchTrainer.training_step

    def counted(self, model, inputs, *others):
        texts = self.train_dataset
        seen.append((int(self.state.epoch or 0), self.state.global_step, len(texts)))
        return step(self, model, inputs, *others)

    monkeypatch.setattr(trainer.MicroBatchTrainer, "training_step", counted)
    timing = train(drawn, tmp_path, type=kind, loss=loss, epochs=EPOCHS, draw="epoch", batch_size=5)
    rows = 10 if loss != "BinaryCrossEntropyLoss" else 20
    assert (timing["examples"], timing["queries"], timing["queries_without_candidate"]) == (rows, 10, 1)
    assert timing["steps"] == len(seen) == EPOCHS * rows // 5
    assert [float(row["epoch"]) for row in read_log(tmp_path)][-1] == EPOCHS
    assert [epoch for epoch, _, _ in seen] == [e for e in range(EPOCHS) for _ in range(rows // 5)]


def test_a_training_with_draws_learns_from_them(drawn, task, tmp_path):
    """The weights are others where only the last epoch's negatives are others, and the same where the file is."""
    changed = tmp_path / "changed"
    changed.mkdir()
    for name in ("start", "corpus.jsonl", "queries.jsonl"):
        (changed / name).symlink_to(task / name)
    lines = (drawn / "negatives.tsv").read_text().splitlines()
    last = [line.replace("\td19\tbm25", "\td11\tbm25") if line.endswith("\t3") else line for line in lines]
    assert last != lines
    (changed / "negatives.tsv").write_text("\n".join(last) + "\n")
    settings = {"type": "cross-encoder", "loss": "MarginRankingLoss", "epochs": EPOCHS, "draw": "epoch"}
    for folder, name in ((drawn, "a"), (drawn, "b"), (changed, "c")):
        train(folder, tmp_path / name, **settings)
    assert same(tmp_path / "a", tmp_path / "b") and not same(tmp_path / "a", tmp_path / "c")


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "loss"), [("bi-encoder", "MultipleNegativesRankingLoss"), ("cross-encoder", "MarginRankingLoss")]
)
def test_a_training_killed_in_mid_epoch_ends_with_the_same_weights(drawn, tmp_path, kind, loss):
    settings = {"type": kind, "loss": loss, "epochs": EPOCHS, "draw": "epoch"}
    settings |= {"head_learning_rate": 1e-2} if kind == "cross-encoder" else {}
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    kill("step", 5, drawn, killed, **settings)  # in the second epoch, after its first step
    assert [train(drawn, out, **settings)["resumed_at_step"] for out in (killed, whole)] == [4, 0]
    assert same(killed, whole) and weights(whole)
