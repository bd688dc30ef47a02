"""What a configuration says of a language model's scores: whose jobs hold it, and what each mistake says."""

from types import SimpleNamespace

from ranktrial.experiment.descriptions import describe
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.system_types import system_type
from scripts.inference import planning as inference
from scripts.training import planning
from tests.experiment.test_config import changed
from tests.support.one_line import each_is_one_line

ANSWERS = {"true_token": "yes", "false_token": "no"}
ASKED = {"query": "Judge\nthis"}
JUDGE = {"systems/x": {"model": "ce", "rerank": {"first_stage": "bm25"}}}


def resolved(**reported):
    return resolve(changed(JUDGE | {f"models/ce/{key}": value for key, value in reported.items()}), "c.yaml")


def test_the_job_of_its_weights_holds_it_and_no_other():
    plain, reported = resolved(), resolved(**ANSWERS)
    assert planning.weights_settings(plain, "ce") == {}
    assert planning.weights_settings(reported, "ce") == ANSWERS
    assert planning.weights_settings(resolved(**ANSWERS, prompts=ASKED), "ce") == ANSWERS
    assert inference.ranking_settings(reported, "runs/d", "x", "0") == inference.ranking_settings(
        plain, "runs/d", "x", "0"
    )


def test_a_description_an_archive_and_an_identity_say_it():
    plain, reported = resolved(), resolved(**ANSWERS)
    reported = resolved(**ANSWERS, prompts=ASKED)
    words = ', query prompt "Judge\\nthis", true_token "yes", false_token "no"; '
    assert words in describe(reported, reported.systems["x"]) and "prompt" not in describe(plain, plain.systems["x"])
    kind = system_type(reported.systems["x"])
    assert kind.provenance(reported, reported.systems["x"])["true_token"] == "yes"
    sides = [
        kind.identity(SimpleNamespace(models=one.models, recipes={}), one.systems["x"]) for one in (plain, reported)
    ]
    assert sides[0] != sides[1]


def test_lists_make_a_model_of_each():
    many = resolve(changed(JUDGE | {"models/ce/true_token": ["one", "two"]}), "c.yaml")
    assert many.entries["x"] == ["x-ce-one", "x-ce-two"]


CASES = {
    "of a bi-encoder": ({"models/m/true_token": "a"}, "c.yaml: models.m.true_token: only valid with type: cross-encoder"),
    "of onnx": ({"models/ce/backend": "onnx", "models/ce/weights": "tests", "models/ce/true_token": "a"},
     "c.yaml: models.ce.true_token: only valid with backend: torch"),
    "false alone": ({"models/ce/false_token": "no"}, "c.yaml: models.ce.false_token: only valid with true_token"),
    "no text": ({"models/ce/true_token": 1}, "c.yaml: models.ce.true_token: 1 is a whole number; expected text"),
    "empty": ({"models/ce/true_token": ""}, "c.yaml: models.ce.true_token"),
    "two lines": ({"models/ce/true_token": "a\nb"}, "c.yaml: models.ce.true_token: the text 'a\\nb' contains a newline"),
    "too long": ({"models/ce/true_token": "a" * 101}, "c.yaml: models.ce.true_token"),
}  # fmt: skip


test_each_mistake_is_one_line_that_names_file_and_key = each_is_one_line(
    CASES, lambda changes: resolve(changed(changes), "c.yaml")
)
