"""Cross-encoders of several labels: against transformers' softmax, in torch, in ONNX, after a training, and mistakes."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logit

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import describe
from ranktrial.experiment.system_types import system_type
from ranktrial.models import loading  # noqa: F401 - first: it sets what the libraries read while they are imported
from ranktrial.models.adapters import adapter
from ranktrial.models.labels import FILE, Relevance, one_score
from ranktrial.models.onnx_pairs import OnnxCrossEncoder
from scripts.inference.export import Settings as Export
from scripts.inference.export import export_checkpoint
from scripts.training import planning
from scripts.training.weights import weights
from tests.experiment.test_config import resolved
from tests.support.calling import call
from tests.support.one_line import refused
from tests.support.tiny_bert import build_labelling
from tests.support.tiny_onnx import cross_encoder
from tests.support.tiny_task import WORDS, train, write_collection

TYPE = adapter("cross-encoder")
TEXTS = [" ".join(WORDS[n : n + 3]) for n in range(0, 18, 3)]
PAIRS = [(a, b) for a in TEXTS for b in TEXTS]
NAMES = {"0": "contradiction", "1": "neutral", "2": "entailment"}


@pytest.fixture(scope="module", params=[2, 3])
def model(request, tmp_path_factory) -> Path:
    """With three labels their names are stated; of two transformers states nothing."""
    further = {"id2label": NAMES} if request.param == 3 else {}
    return build_labelling(tmp_path_factory.mktemp("model") / "m", TEXTS, seed=2, labels=request.param, **further)


def taken(model: Path, target: Path, **settings) -> Path:
    call(weights, {"source": str(model), **settings}, checkpoint=target)
    return target


def probabilities(model: Path) -> np.ndarray:
    """transformers' own, of shape (pairs, labels)."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    whole, tokenizer = (made.from_pretrained(model) for made in (AutoModelForSequenceClassification, AutoTokenizer))
    with torch.inference_mode():
        logits = whole(**tokenizer(*zip(*PAIRS, strict=True), padding=True, return_tensors="pt")).logits
    return torch.softmax(logits.double(), dim=1).numpy()


def test_the_score_is_the_log_odds_of_the_label(model, tmp_path):
    expected = logit(probabilities(model))
    for label in range(expected.shape[1]):
        folder = taken(model, tmp_path / str(label), label=label)
        scorer = TYPE.load_scorer(folder, 32, 4, "torch")
        np.testing.assert_allclose(scorer.score(PAIRS), expected[:, label], rtol=0, atol=1e-4)
    name = "entailment" if label == 2 else "LABEL_1"
    assert scorer.facts["score"] == f"log odds of label {label} ({name})"
    named = taken(model, tmp_path / "named", label=name)
    assert np.array_equal(TYPE.load_scorer(named, 32, 4, "torch").score(PAIRS), scorer.score(PAIRS))


def test_labels_that_do_not_exclude_each_other_have_their_logit(tmp_path):
    further = {"problem_type": "multi_label_classification"}
    model = build_labelling(tmp_path / "m", TEXTS, seed=2, labels=3, **further)
    scorer = TYPE.load_scorer(taken(model, tmp_path / "one", label=1), 32, 4, "torch")
    logs = np.log(probabilities(model))
    scores = scorer.score(PAIRS)  # less the same number for all labels of a pair, that of the softmax
    other = TYPE.load_scorer(taken(model, tmp_path / "two", label=2), 32, 4, "torch").score(PAIRS)
    np.testing.assert_allclose(scores - other, logs[:, 1] - logs[:, 2], rtol=0, atol=1e-4)
    assert scorer.facts["score"] == "logit of label 1 (LABEL_1)"


@pytest.mark.parametrize(
    ("model", "precision", "apart"),
    [(3, "fp32", 1e-4), *(pytest.param(*one, marks=pytest.mark.long) for one in ((2, "fp32", 1e-4), (3, "int8", 1)))],
    indirect=["model"],
)
def test_an_export_has_the_same_score_and_nothing_else(model, tmp_path, precision, apart):
    folder, target = taken(model, tmp_path / "m", label=1), tmp_path / "out"
    scores = TYPE.load_scorer(folder, 32, 4, "torch").score(PAIRS)
    target.mkdir()
    export_checkpoint(TYPE, folder, target, Export(type="cross-encoder", max_length=32, precision=precision))
    assert OnnxCrossEncoder(target, 32).session.tried == (2, 1)
    exported = TYPE.load_scorer(target, 32, 1, "onnx").score(PAIRS)
    np.testing.assert_allclose(exported, scores, rtol=0, atol=apart * np.abs(scores).max())
    assert np.corrcoef(exported, scores)[0, 1] > 0.95


def test_a_training_learns_the_label_and_keeps_all_of_them(tmp_path):
    """Its checkpoint is a classifier as before, and ranks by the same label."""
    source = build_labelling(tmp_path / "m", [" ".join(WORDS)], seed=2, labels=3, id2label=NAMES)
    task = tmp_path / "task"
    task.mkdir()
    write_collection(task)
    taken(source, task / "start", label="entailment")
    rows = [f"q{n}\td{n}\td{n + 9}\trandom\n" for n in range(5)]
    (task / "negatives.tsv").write_text("query_id\tpositive_id\tnegative_id\tsource\n" + "".join(rows))
    train(task, tmp_path / "out", type="cross-encoder", epochs=40)
    trained = tmp_path / "out" / "model"
    config = json.loads((trained / "config.json").read_text())
    assert config["id2label"] == NAMES and config["architectures"] == ["BertForSequenceClassification"]
    assert json.loads((trained / FILE).read_text()) == {"label": 2, "softmax": True}
    pairs = [(WORDS[n], " ".join(WORDS[m % 20 : m % 20 + 1 + m % 5])) for n in range(5) for m in (n, n + 9)]
    for folder, right in ((task / "start", False), (trained, True)):
        relevant, other = TYPE.load_scorer(folder, 16, 4, "torch").score(pairs).reshape(-1, 2).T
        assert (relevant > other).all() == right


@pytest.mark.parametrize(("columns", "label"), [(2, 1), (3, 0)])
def test_an_onnx_file_has_the_score_of_its_label(tmp_path, columns, label):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    rng = np.random.default_rng(1)
    source, names = tmp_path / "source", {str(n): f"name {n}" for n in range(columns)}
    source.mkdir()
    rows, head = rng.normal(size=(len(words), 3)).astype(np.float32), rng.normal(size=(3, columns)).astype(np.float32)
    cross_encoder(source / "model.onnx", rows, head, np.zeros((2, 3), np.float32))
    (source / "vocab.txt").write_text("\n".join(words) + "\n")
    how = {"backend": "onnx", "label": label}
    scores = OnnxCrossEncoder(taken(source, tmp_path / "out", **how), 32).score(PAIRS, 4)
    totals = []
    for query, document in PAIRS:
        tokens = f"[CLS] {query} [SEP] {document} [SEP]".split()
        totals.append(rows[[words.index(token) for token in tokens]].astype(np.float64).sum(axis=0) @ head)
    shares = np.exp(totals) / np.exp(totals).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(scores, logit(shares[:, label]), rtol=0, atol=1e-4)
    (source / "config.json").write_text(json.dumps({"id2label": names}))
    again = taken(source, tmp_path / "named", backend="onnx", label=f"name {label}")
    assert np.array_equal(OnnxCrossEncoder(again, 32).score(PAIRS, 4), scores)


def test_scores_far_from_an_even_chance_do_not_tie():
    logits = np.array([[0, 200.0], [0, 201], [200, 0], [-300, -300]], np.float32)
    assert one_score(logits, Relevance(1, True, "")).tolist() == [200, 201, -200, 0]


def test_what_is_not_said_or_not_there_is_one_line(model, tmp_path):
    count = 3 if (named := "contradiction" in (model / "config.json").read_text()) else 2
    listed = "0 (contradiction), 1 (neutral), 2 (entailment)" if named else "0 (LABEL_0), 1 (LABEL_1)"
    for to_train in (False, True):
        with refused(f"{model}: a cross-encoder of {count} labels; say by the model's key label", listed):
            TYPE.load(model, 32, to_train)
    with refused(f"label is 7, and the model's are {listed}"):
        TYPE.load(taken(model, tmp_path / "beyond", label=7), 32)
    with refused("label: the model has none of the name 'relevant'; known are "):
        taken(model, tmp_path / "other", label="relevant")
    single = build_labelling(tmp_path / "single", TEXTS, seed=2, labels=1)
    with refused("label: this model has a single score; leave it out"):
        TYPE.load(taken(single, tmp_path / "one", label=0), 32)


def test_a_single_score_of_which_nothing_is_stated_is_taken_as_such(tmp_path):
    single = build_labelling(tmp_path / "single", TEXTS, seed=2, labels=1)
    config = json.loads((single / "config.json").read_text())
    before = TYPE.load_scorer(single, 32, 4, "torch").score(PAIRS)
    (single / "config.json").write_text(json.dumps({key: config[key] for key in config if "label" not in key}))
    assert np.array_equal(TYPE.load_scorer(single, 32, 4, "torch").score(PAIRS), before)


RERANKS = {"systems/x": {"model": "ce", "rerank": {"first_stage": "bm25"}}}


def test_the_configuration_says_it_to_the_job_of_the_weights_and_to_readers():
    plain, reported = (resolved(RERANKS | more) for more in ({}, {"models/ce/label": 0}))
    assert planning.weights_settings(reported, "ce") == {"label": 0}
    assert ", label 0;" in describe(reported, reported.systems["x"])
    kind = system_type(reported.systems["x"])
    assert kind.provenance(reported, reported.systems["x"])["label"] == 0
    sides = [
        kind.identity(SimpleNamespace(models=one.models, recipes={}), one.systems["x"]) for one in (plain, reported)
    ]
    assert sides[0] != sides[1]
    many = resolved(RERANKS | {"models/ce/label": ["neutral", "entailment"]})
    assert [many.models[f"ce-{name}"].label for name in ("neutral", "entailment")] == ["neutral", "entailment"]
    onnx = {"models/ce/backend": "onnx", "models/ce/weights": "tests", "models/ce/label": 1}
    assert resolved(onnx).models["ce"].label == 1
    for wrong, said in ((-1, "models.ce.label"), (True, "models.ce.label"), ("", "models.ce.label")):
        with pytest.raises(UserError, match=said):
            resolved({"models/ce/label": wrong})
    with pytest.raises(UserError, match=r"models\.m\.label: only valid with type: cross-encoder"):
        resolved({"models/m/label": 1})
