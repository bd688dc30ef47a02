"""Comparative features of a question and a document, by hand; taggers by rules, and another in their place."""

import random
import time

import pytest

from ranktrial.ir.comparative import (
    Features,
    Structure,
    comparative_features,
    features,
    named,
    read_document,
    tag_document,
    tag_question,
)

QUESTION = "Which is better for children, a hard mattress or a soft mattress?"


def test_the_structure_of_a_question():
    found = tag_question("Which smartphone has a better camera and is more durable for hikers: Nokia or Sony?")
    assert found == Structure(("Nokia", "Sony"), ("camera", "hikers"), ("better", "more durable"))
    assert tag_question("Which has more sugar, juice or cola?").aspects == ("sugar",)
    assert tag_question("Is iron cheaper than steel in terms of transport?").aspects == ("transport",)


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("Doctors like a hard mattress.", 1),
        ("Hard mattresses are common. So is the soft mattress.", 2),
        ("A mattress that is hard, and one that is soft.", 0),  # not the object's words one behind the other
        ("HARD MATTRESS, soft\nmattress", 2),
        ("A shard mattress, a soft mattresslike thing.", 0),  # whole words
        ("", 0),
    ],
)
def test_how_many_of_the_objects_a_document_names(text, objects):
    assert comparative_features(QUESTION, text).objects == objects


@pytest.mark.parametrize(
    ("singular", "plural"),
    [("cat", "cats"), ("box", "boxes"), ("berry", "berries"), ("cookie", "cookies"), ("bus", "bus's")],
)
def test_singular_and_plural_are_one(singular, plural):
    assert named((singular,), read_document(f"two {plural}.")) == [singular]
    assert named((plural,), read_document(f"one {singular}.")) == [plural]
    assert named(("gas",), read_document("the glass")) == named(("bu",), read_document("a bus")) == []


def test_of_three_objects_two_are_the_most_that_count():
    question = tag_question("Tea, coffee or cocoa?")
    document = read_document("Coffee, tea and cocoa.")
    assert named(question.objects, document) == ["Tea", "coffee", "cocoa"]
    assert features(question, document).objects == 2


def test_every_word_of_an_aspect_or_predicate_counts_a_half_where_an_object_is_named():
    text = "A hard mattress is better for back pain. It is also more durable. Sleep well!"
    assert tag_document(text) == Structure((), ("back pain",), ("better", "more durable"))
    assert comparative_features(QUESTION, text) == Features(1, 0.5 * 5, 1)
    assert comparative_features(QUESTION, text.replace("mattress", "pillow")) == Features(0, 0.0, 1)


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("Wood versus plastic.", 1),
        ("Wood costs little compared to plastic.", 1),
        ("This lasts longer.", 1),
        ("It has more knots than plastic.", 1),
        ("It is blunter than glass.", 1),
        ("More information is here. Call for the best price.", 0),  # nothing is compared with anything
        ("My computer is under the paper.", 0),
        ("", 0),
    ],
)
def test_whether_there_is_any_comparative_structure(text, has):
    assert comparative_features("anything", text).has_structure == has


def test_a_question_without_objects_has_features_of_zero_but_for_the_structure():
    assert comparative_features("How to run faster?", "Running faster is better.") == Features(0, 0.0, 1)


def test_another_tagger_takes_the_place_of_the_rules():
    def model(text):
        return Structure(objects=("oak",), aspects=("grain",), predicates=("finer",)) if text else Structure()

    assert comparative_features("which wood?", "Old oak.", of_query=model, of_text=model) == Features(1, 1.0, 1)
    assert comparative_features("which wood?", "", of_query=model, of_text=model) == Features(0, 0.0, 0)


def test_any_text_has_a_structure_and_takes_time_by_its_length():
    rng = random.Random(1)
    words = ["or", "vs", "than", "between", "and", "is", "better", "more", ",", "?", "the", "tea", "should", "I", "to", "compare",
             "instead", "of", "over", "different", "from", "that", "need", "-er", "…", "\x00"]  # fmt: skip
    for _ in range(3000):
        found = tag_question(" ".join(rng.choices(words, k=rng.randrange(12))))
        assert all(name and name == name.strip() for name in found.objects)
    start = time.monotonic()
    for hostile in ("a" + "." * 200_000, "or " * 100_000, "better than " * 50_000, "(" * 200_000, "vs" * 100_000):
        comparative_features(hostile, hostile)
    assert time.monotonic() - start < 20
