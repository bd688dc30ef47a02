"""Several datasets in one training: which rows a batch holds, how often each dataset comes, prompts, and resuming."""

import collections
import json
import shutil

import pytest

from ranktrial.ir.collection import Document, read_queries, write_corpus, write_queries
from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait
from tests.support.tiny_task import SCHEDULE, WORDS, kill, same, train, without_dropout
from tests.training.test_processes import TOLERANCE
from tests.training.test_processes import apart as furthest

SIZES = {"many": 18, "few": 6}
FILES = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "negatives": "negatives.tsv"}
HEADER = "query_id\tpositive_id\tnegative_id\tsource\tbm25_rank"
SAMPLERS = ("proportional", "round_robin")


@pytest.fixture(scope="module")
def two(task, tmp_path_factory):
    """Two datasets with other words: 18 queries with two negatives each, and 6 with one; no text comes twice."""
    folder = tmp_path_factory.mktemp("two")
    for name in ("start", "masked"):
        (folder / name).symlink_to(task / name)
    for (name, size), words in zip(SIZES.items(), (WORDS[:10], WORDS[10:]), strict=True):
        (folder / name).mkdir()
        texts = [f"{words[n % 10]} {words[n // 10]}" for n in range(60)]
        write_corpus(folder / name / "corpus.jsonl", (Document(f"d{n}", "", text) for n, text in enumerate(texts)))
        write_queries(folder / name / "queries.jsonl", {f"q{n}": f"{words[n % 10]} {n}" for n in range(size)})
        shifts = (20, 40) if name == "many" else (20,)
        rows = [f"q{n}\td{n}\td{n + shift}\trandom\t" for n in range(size) for shift in shifts]
        (folder / name / "negatives.tsv").write_text("\n".join([HEADER, *rows]) + "\n")
    return folder


def of_two(two):
    """The files of both datasets."""
    return {name: [two / one / file for one in SIZES] for name, file in FILES.items()} | {"start": two / "start"}


def train_two(two, out, **settings):
    return train(two, out, of_two(two), datasets=list(SIZES), **settings)


@pytest.fixture
def seen(monkeypatch):
    """The texts of each batch that the trainer is given."""
    from sentence_transformers.base.trainer import BaseTrainer

    batches, init = [], BaseTrainer.__init__

    def with_kept(self, **arguments):
        init(self, **arguments)
        collate = self.data_collator

        def kept(rows):
            batches.append([{key: value for key, value in row.items() if key != "dataset_name"} for row in rows])
            return collate(rows)

        kept.valid_label_columns = collate.valid_label_columns
        self.data_collator = kept

    monkeypatch.setattr(BaseTrainer, "__init__", with_kept)
    return batches


def dataset_of(batch):
    """The one dataset that a batch is of, by its words."""
    found = {name for row in batch for name, words in (("many", WORDS[:10]), ("few", WORDS[10:]))
             if any(word in words for text in row.values() for word in text.split())}  # fmt: skip
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize(
    ("kind", "loss"), [("bi-encoder", "MultipleNegativesRankingLoss"), ("cross-encoder", "MarginRankingLoss")]
)
def test_each_batch_is_of_one_dataset_and_each_comes_as_often_as_the_sampler_says(
    two, tmp_path, seen, sampler, kind, loss
):
    """Counted by hand: of lists 18 rows are five batches of four and 6 are two; of triplets 36 are nine."""
    train_two(two, tmp_path, type=kind, loss=loss, epochs=2, multi_dataset_batch_sampler=sampler)
    rows = {"many": 18 if kind == "bi-encoder" else 36, "few": 6}
    in_all = {"many": -(-rows["many"] // 4), "few": 2}
    batches = in_all if sampler == "proportional" else {"many": 2, "few": 2}
    order = [dataset_of(batch) for batch in seen]
    assert len(order) == 2 * sum(batches.values())
    epochs = [order[: len(order) // 2], order[len(order) // 2 :]]
    assert all(collections.Counter(epoch) == batches for epoch in epochs)
    if sampler == "round_robin":
        assert order == ["many", "few"] * 4
    else:
        for epoch in (seen[: len(order) // 2], seen[len(order) // 2 :]):
            learnt = [json.dumps(row) for batch in epoch for row in batch]
            assert len(set(learnt)) == len(learnt) == sum(rows.values())  # each row once
    timing = json.loads((tmp_path / "timing.json").read_text())
    learnt = {"many": rows["many"] if sampler == "proportional" else 8, "few": 6}
    assert timing["by_dataset"] == {
        name: {"queries": SIZES[name], "examples": rows[name], "examples_per_epoch": learnt[name]} for name in SIZES
    }
    assert (timing["queries"], timing["examples"], timing["steps"]) == (24, sum(rows.values()), len(order))
    assert timing["examples_per_second"] * timing["seconds"] == pytest.approx(
        min(2 * sum(learnt.values()), 4 * len(order))
    )


def test_batches_come_in_the_order_of_the_librarys_trainer_with_the_spread_seed(two, tmp_path, seen):
    """The library's sampler over as many batches, by itself, puts the datasets into the same order in each epoch."""
    import torch
    from sentence_transformers.base.sampler import DefaultBatchSampler, ProportionalBatchSampler
    from torch.utils.data import ConcatDataset, SequentialSampler

    train_two(two, tmp_path, epochs=2, seed=3)
    generator, rows = torch.Generator(), [range(18), range(6)]
    inner = [DefaultBatchSampler(SequentialSampler(part), batch_size=4, drop_last=False) for part in rows]
    library = ProportionalBatchSampler(ConcatDataset(rows), inner, generator=generator, seed=3 << 20)
    expected = []
    for epoch in (0, 1):
        library.set_epoch(epoch)
        expected += ["many" if batch[0] < 18 else "few" for batch in library]
    assert [dataset_of(batch) for batch in seen] == expected and expected[:7] != expected[7:]


def test_each_epoch_has_its_own_rows_of_each_dataset(two, tmp_path, seen):
    """With `draw: epoch`: the negative of epoch e is 20 + e documents further, and no batch has another epoch's."""
    drawn = tmp_path / "drawn"
    drawn.mkdir()
    for name in ("start", *SIZES):
        (drawn / name).mkdir() if name in SIZES else (drawn / name).symlink_to(two / name)
    for name, size in SIZES.items():
        for file in ("corpus.jsonl", "queries.jsonl"):
            (drawn / name / file).symlink_to(two / name / file)
        rows = [f"q{n}\td{n}\td{n + 20 + epoch}\tbm25\t\t{epoch}" for epoch in (1, 2, 3) for n in range(size)]
        (drawn / name / "negatives.tsv").write_text("\n".join([f"{HEADER}\tepoch", *rows]) + "\n")
    train_two(drawn, tmp_path / "out", epochs=3, draw="epoch")
    assert len(seen) == 3 * (5 + 2)
    for epoch in (1, 2, 3):
        batches = seen[(epoch - 1) * 7 : epoch * 7]
        assert collections.Counter(dataset_of(batch) for batch in batches) == {"many": 5, "few": 2}
        expected = []
        for size, words in zip(SIZES.values(), (WORDS[:10], WORDS[10:]), strict=True):
            texts = [f"{words[n % 10]} {words[n // 10]}" for n in range(60)]
            expected += [(f"{words[n % 10]} {n}", texts[n], texts[n + 20 + epoch]) for n in range(size)]
        learnt = [(row["anchor"], row["positive"], row["negative_1"]) for batch in batches for row in batch]
        assert sorted(learnt) == sorted(expected)


@pytest.mark.long
@pytest.mark.parametrize(("sampler", "step"), [("proportional", 10), ("round_robin", 7)])
def test_a_killed_training_on_two_datasets_ends_like_an_undisturbed_one(two, tmp_path, sampler, step):
    settings = {"epochs": 3, "multi_dataset_batch_sampler": sampler, "prompts": {"query": "ashen ", "document": ""}}
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    kill("step", step, two, killed, of_two(two), datasets=list(SIZES), **settings)
    resumed, _ = (train_two(two, out, **settings)["resumed_at_step"] for out in (killed, whole))
    assert 0 < resumed < step + 1 and same(killed, whole)


@pytest.mark.long
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_two_processes_train_on_two_datasets_as_one_does(two, task, tmp_path, sampler):
    still = without_dropout(task, tmp_path / "still")
    for name in SIZES:
        (still / name).symlink_to(two / name)
    alone, shared = (
        train_two(still, tmp_path / name, epochs=2, gpus=gpus, multi_dataset_batch_sampler=sampler)
        for name, gpus in (("alone", 1), ("shared", 2))
    )
    assert furthest(tmp_path / "alone", tmp_path / "shared") < TOLERANCE
    assert alone["by_dataset"] == shared["by_dataset"] and alone["steps"] == shared["steps"]
    assert shared["gpus"] == 2


def test_prompts_and_members_do_not_meet(two, tmp_path, monkeypatch):
    """Queries get their prompt and documents theirs, also where datasets are called as columns are."""
    from sentence_transformers.base.data_collator import BaseDataCollator

    put, prompt_of = {}, BaseDataCollator._get_prompt_for_column

    def kept(self, prompts, column):
        put[column] = prompt_of(self, prompts, column)
        return put[column]

    monkeypatch.setattr(BaseDataCollator, "_get_prompt_for_column", kept)
    prompts = {"query": "ashen ", "document": "yewen "}
    train_two(two, tmp_path, epochs=1, prompts=prompts)
    assert put == {"anchor": "ashen ", "positive": "yewen ", "negative_1": "yewen ", "negative_2": "yewen "}


@pytest.mark.parametrize("kind", ["bi-encoder", "cross-encoder"])
def test_each_dataset_has_the_prompts_that_are_given_for_it(two, tmp_path, kind):
    """As texts that begin with them would be learnt; the checkpoint stores each dataset's under a name of its own."""
    shutil.copytree(two, tmp_path / "by-hand", symlinks=True)
    for name, word in (("many", "ashen "), ("few", "yewen ")):
        file = tmp_path / "by-hand" / name / "queries.jsonl"
        write_queries(file, {key: word + text for key, text in read_queries(file).items()})
    each = [{"query": "ashen "}, {"query": "yewen "}]
    timing = train_two(two, tmp_path / "given", epochs=1, type=kind, prompts_by_dataset=each)
    train_two(tmp_path / "by-hand", tmp_path / "hand", epochs=1, type=kind)
    train_two(two, tmp_path / "none", epochs=1, type=kind)
    assert same(tmp_path / "given", tmp_path / "hand") and not same(tmp_path / "given", tmp_path / "none")
    stored = json.loads((tmp_path / "given" / "model" / "config_sentence_transformers.json").read_text())["prompts"]
    assert stored.items() >= {"many-query": "ashen ", "few-query": "yewen "}.items() and not stored["query"]
    assert timing["prompts_by_dataset"] == each and "prompts" not in timing


def test_what_is_trained_on_marks_the_training():
    """A resumed training has the same examples of the same datasets in the same order, batched alike."""
    from ranktrial.common.settings import read_settings
    from ranktrial.training.checkpoints import fingerprint
    from ranktrial.training.training_settings import Settings

    one, other = {"anchor": ["a"], "positive": ["b"]}, {"anchor": ["c"], "positive": ["d"]}
    kinds = [{"datasets": ["x", "y"]}, {"datasets": ["x", "y"], "multi_dataset_batch_sampler": "round_robin"}]
    plain, turn = (read_settings(Settings, SCHEDULE | kind) for kind in kinds)
    marks = [fingerprint(plain, columns, "", "") for columns in ([one], [one, other], [other, one])]
    marks += [fingerprint(plain, [one], *of) for of in (("start", ""), ("", "code"), ("", "", "dev"))]
    assert len({*marks, fingerprint(turn, [one, other], "", "")}) == 7
