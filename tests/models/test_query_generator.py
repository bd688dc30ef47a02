"""Which tokens a model that writes queries draws, and where it stops: at the end of the line that is the query."""

import json

import pytest

from ranktrial.models.loaded_files import copy_model
from ranktrial.models.types import query_generator
from tests.support import tiny_language_model
from tests.support.one_line import refused

DOCUMENTS = ["ash elm", "fig oak", "yew fir", "elm oak"]


@pytest.mark.parametrize("words", [3, 25, 400])
def test_tokens_are_drawn_among_those_of_the_library(words):
    import torch
    from transformers import TopKLogitsWarper, TopPLogitsWarper

    scores = torch.randn(8, words, generator=torch.Generator().manual_seed(words)) * 3
    cut = TopKLogitsWarper(query_generator.TOP_K)(None, scores)
    theirs = TopPLogitsWarper(query_generator.TOP_P)(None, cut)
    ours = query_generator.likely(torch.zeros(8, 1), scores)
    assert torch.equal(ours, theirs)
    assert words == 3 or (ours.isfinite().sum(-1) <= query_generator.TOP_K).all()


@pytest.fixture
def writer(tmp_path, monkeypatch):
    """A model of random weights, one of whose words is the end of a line."""
    folder = tiny_language_model.build(tmp_path, [*DOCUMENTS, "LINE", "Query"], seed=4, template=None)
    stored = json.loads((folder / "tokenizer.json").read_text())
    words = stored["model"]["vocab"]
    words["\n"] = words.pop("LINE")
    (folder / "tokenizer.json").write_text(json.dumps(stored))
    monkeypatch.setattr(query_generator, "NEW", 40)
    return query_generator.load_writer(folder, max_length=60, batch_size=1)


def test_nothing_is_written_after_the_line_that_is_kept(writer, monkeypatch):
    short = [writer.write("{document} Query", [document], seed=1)[0] for document in DOCUMENTS]
    written = dict(writer.facts)
    monkeypatch.setattr(query_generator, "has_line", lambda answer: False)
    whole = [writer.write("{document} Query", [document], seed=1)[0] for document in DOCUMENTS]
    assert all(long.startswith(one) for long, one in zip(whole, short, strict=True))
    stopped = [one for one, long in zip(short, whole, strict=True) if one != long]
    assert stopped and all(one.strip() and one.endswith("\n") for one in stopped)
    assert all(one.strip(" \n").count("\n") == 0 for one in stopped)
    assert written["prompt_tokens"] == 3 * len(DOCUMENTS) == writer.facts["prompt_tokens"] - written["prompt_tokens"]
    assert written["completion_tokens"] < writer.facts["completion_tokens"] - written["completion_tokens"]


def test_damaged_weights_are_refused(writer):
    writer.model.lm_head.weight.data[3] = float("nan")
    with refused("the model yields no finite numbers"):
        writer.write("{document} Query", DOCUMENTS, seed=1)


def test_how_a_model_is_said_to_write_is_not_read(tmp_path, monkeypatch):
    folder = tiny_language_model.build(tmp_path, [*DOCUMENTS, "Query"], seed=4, template=None)
    monkeypatch.setattr(query_generator, "NEW", 20)

    def written():
        loaded = query_generator.load_writer(folder, max_length=60, batch_size=3)
        return loaded.write("{document} Query", DOCUMENTS, seed=1)

    before = written()
    assert len(before) == len(DOCUMENTS)
    stored = json.loads((folder / "generation_config.json").read_text())
    other = {"do_sample": True, "temperature": 9.0, "num_return_sequences": 2, "num_beams": 2, "max_length": 5}
    (folder / "generation_config.json").write_text(json.dumps(stored | other))
    assert written() == before


@pytest.mark.parametrize(
    ("answer", "ended"),
    [("a query\nmore", True), ("\n\n a query\n", True), ("a query", False), ("\n\n", False), (' "\n"\n', False), ("", False),
     ("<think>\n", False), ("<think>\na thought\n</think>\n\n", False), ("<think>\n</think>\na query\n", True)],
)  # fmt: skip
def test_a_line_without_a_text_is_no_query(answer, ended):
    assert query_generator.has_line(answer) is ended


TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{{ m.content }} {% endfor %}{% if enable_thinking is false %}elm{% endif %}"
)


def test_a_template_writes_the_special_tokens_itself_and_does_not_ask_for_reasoning(tmp_path, monkeypatch):
    """What the model is given are the tokens that the library makes of the chat; without a template, of the prompt."""
    from tokenizers.processors import TemplateProcessing

    folder = tiny_language_model.build(tmp_path, [*DOCUMENTS, "Query"], seed=4, template=TEMPLATE)
    monkeypatch.setattr(query_generator, "NEW", 4)
    asked = query_generator.load_writer(folder, max_length=60, batch_size=1)
    given, generate = [], asked.model.generate
    asked.tokenizer.bos_token = "<unk>"
    begins = TemplateProcessing(single="<unk> $A", special_tokens=[("<unk>", 1)])
    asked.tokenizer.backend_tokenizer.post_processor = begins
    monkeypatch.setattr(
        asked.model, "generate", lambda **all: given.append(all["input_ids"][0].tolist()) or generate(**all)
    )
    asked.write("{document} Query", ["ash elm"], seed=1)
    chat = [{"role": "user", "content": "ash elm Query"}]
    right = asked.tokenizer.apply_chat_template(chat, add_generation_prompt=True, enable_thinking=False)["input_ids"]
    assert given == [right] and right.count(asked.tokenizer.bos_token_id) == 1


def test_a_checkpoint_keeps_the_tokens_that_end_an_answer(tmp_path):
    """A chat model's end of turn is only in generation_config.json, which the checkpoint of the workflow has too."""
    folder = tiny_language_model.build(tmp_path / "published", [*DOCUMENTS, "Query"], seed=4, template=None)
    stored = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").write_text(json.dumps(stored | {"eos_token_id": [2, 5]}))
    (tmp_path / "checkpoint").mkdir()
    copy_model(folder, tmp_path / "checkpoint", None)
    for place in (folder, tmp_path / "checkpoint"):
        assert query_generator.load_writer(place, 60, 1).model.generation_config.eos_token_id == [2, 5]


def test_a_language_model_may_have_the_name_of_gpt2s(tmp_path):
    folder = tiny_language_model.build(tmp_path, [*DOCUMENTS, "Query"], seed=4, template=None)
    tokenizer = {file: (folder / file).read_text() for file in ("tokenizer.json", "tokenizer_config.json")}
    from transformers import GPT2Config, GPT2LMHeadModel

    words = len(json.loads(tokenizer["tokenizer.json"])["model"]["vocab"])
    GPT2LMHeadModel(GPT2Config(vocab_size=words + 9, n_embd=8, n_layer=1, n_head=1)).save_pretrained(tmp_path / "gpt2")
    for file, text in tokenizer.items():
        (tmp_path / "gpt2" / file).write_text(text)
    written = query_generator.load_writer(tmp_path / "gpt2", 100, 2).write("{document} Query", DOCUMENTS, seed=1)
    assert len(written) == len(DOCUMENTS)
