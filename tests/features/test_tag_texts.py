"""A model that labels tokens in place of the rules: tiny ones of random weights, or whose labels are known."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.comparative import Structure, read_structures
from ranktrial.ir.trec import write_run
from ranktrial.models.types import token_classification
from scripts.features import tag_texts
from tests.support.calling import call
from tests.support.one_line import one_line
from tests.support.tiny_bert import build

LABELS = ["O", "B-OBJ-1", "I-OBJ-1", "B-ASP", "I-ASP", "B-PRED", "I-PRED"]
QUERY = "is oak better than pine ?"
TEXTS = [QUERY, "oak is harder than pine , in the long run", "pine grows"]


def model(folder, labels=LABELS, always=None):
    """A tiny model; `always` is the label that it gives to each word, whatever it is."""
    import torch
    from transformers import BertConfig, BertForTokenClassification

    build(folder, TEXTS, seed=1)
    (folder / "modules.json").unlink()
    config = BertConfig.from_pretrained(folder)
    config.update({"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}})
    with torch.random.fork_rng():
        torch.manual_seed(3)
        made = BertForTokenClassification(config)
        with torch.no_grad():
            if always is None:  # the library's random weights are so small that all words would get one label
                made.classifier.weight.normal_(0, 3)
            else:
                made.classifier.weight.zero_()
                made.classifier.bias.copy_(torch.nn.functional.one_hot(torch.tensor(labels.index(always)), len(labels)))
    made.save_pretrained(folder)
    return folder


@pytest.fixture
def place(tmp_path):
    write_queries(tmp_path / "queries", {"q": QUERY, "unused": "oak"})
    documents = [
        Document("d1", "", TEXTS[1]),
        Document("d2", "", "pine grows"),
        Document("d3", "", ""),
        Document("x", "", "oak"),
    ]
    write_corpus(tmp_path / "corpus", documents)
    write_run(tmp_path / "run", {"q": {"d1": 3.0, "d3": 2.0, "d2": 1.0, "x": 0.5}}, "bm25")
    return tmp_path


def tagged(place, checkpoint, max_length=32, batch_size=2, depth=3, **settings):
    given = {
        "type": "token-classification",
        "max_length": max_length,
        "batch_size": batch_size,
        "depth": depth,
        **settings,
    }
    paths = {"checkpoint": checkpoint, "candidates": place / "run", "texts": [place / "queries", place / "corpus"]}
    call(tag_texts.tag_texts, given, **paths, structures=place / "s.jsonl")
    return read_structures(place / "s.jsonl")


def by_hand(folder, text):
    """The label of each word by the library alone: words are split at blanks, as those of these texts are."""
    import torch
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    own, tokenizer = (
        AutoModelForTokenClassification.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    encoded = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    starts = [start for start, end in encoded.pop("offset_mapping")[0].tolist()]
    with torch.no_grad():
        numbers = own(**encoded).logits[0].argmax(-1).tolist()
    places = [sum(len(word) + 1 for word in text.split()[:n]) for n in range(len(text.split()))]
    return [LABELS[numbers[starts.index(place, 1)]] for place in places]


def test_words_have_the_labels_that_the_library_gives_them(tmp_path):
    folder = model(tmp_path / "m")
    tagger = token_classification.load_tagger(folder, 32, 2)
    assert tagger.labels == {"OBJ-1", "ASP", "PRED"}
    expected = [token_classification.spans(text.split(), by_hand(folder, text)) for text in TEXTS]
    assert any(expected) and len({label for spans in expected for label, _ in spans}) > 1
    assert tagger.tag(TEXTS) == expected
    assert tagger.tag(["", TEXTS[0], " \n", TEXTS[2]]) == [[], expected[0], [], expected[2]] and tagger.tag([]) == []


def test_a_long_text_is_read_to_its_end(tmp_path):
    tagger = token_classification.load_tagger(model(tmp_path / "m", always="B-PRED"), 8, 2)
    assert tagger.tag(["oak pine " * 100]) == [[("PRED", "oak"), ("PRED", "pine")] * 100]


def test_words_with_one_label_are_a_span_and_signs_are_none():
    words = ["a", "b", ",", "c", "d", "e", "f"]
    labels = ["B-X", "I-X", "I-X", "I-X", "B-X", "I-Y", "O"]
    assert token_classification.spans(words, labels) == [("X", "a b"), ("X", "c"), ("X", "d"), ("Y", "e")]


def test_structures_of_queries_and_candidates_are_written(place):
    folder = model(place / "m", always="I-PRED")
    found = tagged(place, folder)
    assert found.queries == {"q": Structure((), (), ("is oak better than pine",))}
    words = ("oak is harder than pine", "in the long run")
    assert found.documents == {
        "d1": Structure((), (), words),
        "d2": Structure((), (), ("pine grows",)),
        "d3": Structure(),
    }
    objects = {"objects": ["PRED"], "aspects": ["ASP"]}
    found = tagged(place, folder, depth=1, batch_size=1, labels=objects)
    assert found.documents == {"d1": Structure(words)}


def refused(place, checkpoint, *words, **settings):
    with pytest.raises(UserError) as error:
        tagged(place, checkpoint, **settings)
    one_line(error, *words)
    assert not (place / "s.jsonl").exists()


def test_labels_are_those_of_the_model(place):
    folder = model(place / "m")
    reported = "m: has no label 'OBJ', named under tagger.labels; its labels are ASP, OBJ-1, PRED"
    refused(place, folder, reported, labels={"objects": ["OBJ"]})
    named = model(place / "n", labels=["O", "B-PER", "B-LOC"])
    refused(place, named, "n: has the labels LOC, PER; say under tagger.labels which of them are objects")


def test_a_model_without_such_a_head_and_one_that_is_no_model_are_refused(place):
    build(place / "plain", TEXTS, seed=1)
    refused(place, place / "plain", "plain: its weights have no head that labels tokens")
    refused(place, place / "nowhere", "nowhere: no such model folder")
    folder = model(place / "m")
    refused(place, folder, "max_length is 128, but this model takes at most 64 tokens", max_length=128)
    refused(place, folder, "max_length is 2, which leaves no room for words", max_length=2)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    refused(place, folder, "not a model, it has no weights (model.safetensors)")
