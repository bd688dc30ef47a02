"""Training with prompts is training on texts that begin with them, weight by weight; the checkpoint stores them."""

import json
import shutil

import pytest
import torch

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, read_corpus, read_queries, write_corpus, write_queries
from ranktrial.models.adapters import adapter
from tests.support.tiny_task import read_log, same, train

BOTH = {"query": "ashen elmling ", "document": "oakwood "}
BI, CROSS = adapter("bi-encoder"), adapter("cross-encoder")


def store(folder, **content):
    file = folder / "config_sentence_transformers.json"
    stored = json.loads(file.read_text()) if file.is_file() else {}
    file.write_text(json.dumps(stored | content))


@pytest.fixture(scope="module")
def tasks(task, tmp_path_factory):
    """The task, the same with the prompts written into its texts, and the same with a start that stores them."""
    folder = tmp_path_factory.mktemp("prompted")
    for name in ("by-hand", "stored", "cross", "cross-by-hand"):
        shutil.copytree(task, folder / name)
    queries = {key: BOTH["query"] + text for key, text in read_queries(task / "queries.jsonl").items()}
    for name in ("by-hand", "cross-by-hand"):
        write_queries(folder / name / "queries.jsonl", queries)
    documents = (Document(one.id, "", BOTH["document"] + one.text) for one in read_corpus(task / "corpus.jsonl"))
    write_corpus(folder / "by-hand" / "corpus.jsonl", documents)
    store(folder / "stored" / "start", prompts=BOTH)
    torch.manual_seed(4)
    start = CROSS.load(task / "start", 32, to_train=True)
    for name, prompts in (("cross", {"rank": BOTH["query"]}), ("cross-by-hand", {})):
        shutil.rmtree(folder / name / "start")
        start.save_pretrained(str(folder / name / "start"), create_model_card=False)
        store(folder / name / "start", prompts=prompts, default_prompt_name=next(iter(prompts), None))
    return folder


FEW = ("MultipleNegativesRankingLoss", "CosineSimilarityLoss")  # of one kind of examples each
FEW_CROSS = ("BinaryCrossEntropyLoss", "LambdaLoss", "CachedMultipleNegativesRankingLoss")


@pytest.mark.parametrize(
    "loss", [pytest.param(loss, marks=[pytest.mark.long] * (loss not in FEW)) for loss in BI.LOSSES]
)
def test_every_loss_of_bi_encoders_sees_the_prompts(task, tasks, tmp_path, loss):
    for name, folder, prompts in (
        ("stored", tasks / "stored", {}),
        ("given", task, {"prompts": BOTH}),
        ("hand", tasks / "by-hand", {}),
        ("none", task, {}),
    ):
        train(folder, tmp_path / name, loss=loss, epochs=1, **prompts)
    assert same(tmp_path / "stored", tmp_path / "hand") and same(tmp_path / "given", tmp_path / "hand")
    assert not same(tmp_path / "none", tmp_path / "hand")
    for name in ("stored", "given"):  # the checkpoint stores the prompts that it was trained with
        stored = json.loads((tmp_path / name / "model" / "config_sentence_transformers.json").read_text())["prompts"]
        assert stored == BOTH and json.loads((tmp_path / name / "timing.json").read_text())["prompts"] == BOTH


@pytest.mark.parametrize(
    "loss", [pytest.param(loss, marks=[pytest.mark.long] * (loss not in FEW_CROSS)) for loss in CROSS.LOSSES]
)
def test_every_loss_of_cross_encoders_sees_a_stored_prompt(tasks, tmp_path, loss):
    for name in ("cross", "cross-by-hand"):
        train(tasks / name, tmp_path / name, type="cross-encoder", loss=loss, epochs=1)
    assert same(tmp_path / "cross", tmp_path / "cross-by-hand")
    reported = [json.loads((tmp_path / name / "timing.json").read_text()) for name in ("cross", "cross-by-hand")]
    assert reported[0]["prompts"] == {"query": BOTH["query"]} and "prompts" not in reported[1]


@pytest.mark.parametrize("further", [{"micro_batch": 2}, {"max_query_length": 2, "max_document_length": 1}])
def test_prompts_go_with_short_memory_and_short_texts(task, tasks, tmp_path, further):
    """Lengths do not count the prompt, which is two words of a query and one of a document here."""
    by_hand = further if "micro_batch" in further else {"max_query_length": 4, "max_document_length": 2}
    train(task, tmp_path / "given", epochs=1, prompts=BOTH, **further)
    train(tasks / "by-hand", tmp_path / "hand", epochs=1, **by_hand)
    assert same(tmp_path / "given", tmp_path / "hand")


def test_a_part_of_the_stored_prompts_can_be_replaced(task, tasks, tmp_path):
    train(tasks / "stored", tmp_path / "off", epochs=1, prompts={"query": "", "document": ""})
    train(task, tmp_path / "none", epochs=1)
    assert same(tmp_path / "off", tmp_path / "none")
    train(tasks / "stored", tmp_path / "half", epochs=1, prompts={"query": ""})
    assert not same(tmp_path / "half", tmp_path / "none")
    reported = {name: json.loads((tmp_path / name / "timing.json").read_text()) for name in ("off", "none", "half")}
    assert "prompts" not in reported["off"] and "prompts" not in reported["none"]
    assert reported["half"]["prompts"] == {"document": BOTH["document"]}


def test_a_prompt_that_is_left_out_of_the_mean_is_left_out_in_training(tasks, tmp_path, monkeypatch):
    """`include_prompt: false` of a model's pooling: the training tells it how many tokens the prompt has."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    shutil.copytree(tasks / "stored", tmp_path / "task")
    pooling = tmp_path / "task" / "start" / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps(json.loads(pooling.read_text()) | {"include_prompt": False}))
    seen, forward = set(), Pooling.forward

    def counted(self, features, *others, **named):
        if self.training:
            seen.add((self.include_prompt, int(features["prompt_length"])))
        return forward(self, features, *others, **named)

    monkeypatch.setattr(Pooling, "forward", counted)
    train(tmp_path / "task", tmp_path / "out", epochs=0.5)
    assert seen == {(False, 3), (False, 2)}  # [CLS] and the words of a query's prompt and of a document's
    assert len(read_log(tmp_path / "out")) > 0


def test_prompts_without_room_are_a_mistake_before_training(task, tmp_path):
    too_long = {"prompts": {"query": "ashen " * 14}}
    with pytest.raises(UserError, match="texts do not fit into max_length 16 with 2 special tokens and 14 tokens of"):
        train(task, tmp_path / "out", **too_long)
    assert not (tmp_path / "out" / "model").exists()
