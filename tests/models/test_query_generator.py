"""Which tokens a model that writes queries draws, and where it stops: at the end of the line that is the query."""

import json

import pytest

from scripts.common.errors import UserError
from scripts.models.types import query_generator
from tests.support import tiny_language_model
from tests.support.one_line import one_line

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
    with pytest.raises(UserError) as reported:
        writer.write("{document} Query", DOCUMENTS, seed=1)
    one_line(reported, "the model yields no finite numbers")


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
    [("a query\nmore", True), ("\n\n a query\n", True), ("a query", False), ("\n\n", False), (' "\n"\n', False), ("", False)],
)  # fmt: skip
def test_a_line_without_a_text_is_no_query(answer, ended):
    assert query_generator.has_line(answer) is ended
