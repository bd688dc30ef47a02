"""Losses against a teacher's scores: by hand and against the library's, for each kind of student and its similarity."""

import numpy as np
import pytest

from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait

# isort: split
import torch

from ranktrial.models.adapters import adapter
from ranktrial.models.distillation import DistillKLDivLoss, scale_of
from tests.models.test_pairwise_losses import Scores
from tests.support.tiny_bert import build, build_masked
from tests.support.tiny_task import WORDS

STUDENT = [[2.0, -1.0, 0.5], [0.25, 3.0, -2.0]]
TEACHER = [[8.0, -3.0, 6.5], [-1.0, -1.5, 4.0]]
LISTS = [["q", "r"], ["a", "a"], ["b", "b"], ["c", "c"]]


def student(scores):
    return Scores({(query, document): scores[n][m] for n, query in enumerate("qr") for m, document in enumerate("abc")})


def softmax(values):
    powers = np.exp(np.array(values) - max(values))
    return powers / powers.sum()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_kl_of_cross_encoders_is_the_formula_and_the_librarys_of_vectors(temperature):
    from sentence_transformers.sentence_transformer.losses import DistillKLDivLoss as OfVectors

    value = DistillKLDivLoss(student(STUDENT), temperature)(LISTS, [torch.tensor(row) for row in TEACHER]).item()
    by_hand = 0.0
    for scores, targets in zip(STUDENT, TEACHER, strict=True):
        p, q = (softmax([one / temperature for one in row]) for row in (targets, scores))
        by_hand += temperature**2 * (p * np.log(p / q)).sum() / len(STUDENT)
    assert value == pytest.approx(by_hand, rel=1e-6)
    # a query's vector is 1 and a document's is its score: their dot product is the score
    vectors = [torch.ones(2, 1), *(torch.tensor(STUDENT)[:, [n]] for n in range(3))]
    theirs = OfVectors(None, temperature=temperature).compute_loss_from_embeddings(vectors, torch.tensor(TEACHER))
    assert value == pytest.approx(theirs.item(), rel=1e-6)


def test_kl_is_least_where_the_student_differs_by_a_constant_also_with_repeated_documents():
    """A short list is filled by repeating: the minimum stays where it was, and no gradient moves the student there."""
    for lists, order in ((LISTS, [0, 1, 2]), ([*LISTS[:3], LISTS[2]], [0, 1, 1])):
        model = student([[one + 5 for one in row] for row in TEACHER])
        loss = DistillKLDivLoss(model)(lists, torch.tensor(TEACHER)[:, order])
        loss.backward()
        assert loss.item() == pytest.approx(0, abs=1e-6)
        assert model.scores.grad.abs().max() < 1e-6


def test_a_temperature_has_to_be_above_0():
    with pytest.raises(ValueError, match="positive finite number"):
        DistillKLDivLoss(student(STUDENT), 0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("students")
    return {
        "bi-encoder": build(folder / "bert", [" ".join(WORDS)], seed=1),
        "multi-vector": folder / "bert",
        "cross-encoder": folder / "bert",
        "sparse-encoder": build_masked(folder / "masked", [" ".join(WORDS)], seed=1),
    }


TEXTS = [WORDS[:2], WORDS[2:4], WORDS[4:6], WORDS[6:8]]  # queries, positives, two negatives of each
LABELS = torch.tensor([[4.0, -2.0, 1.0], [0.5, 2.5, -6.0]])


def scored(kind, model):
    """The student's scores of each list as it ranks: (queries, documents), by `encode` or `load_scorer`."""
    of_kind = adapter(kind)
    if kind == "cross-encoder":
        rows = [
            of_kind.score_pairs(model, [(query, text) for query in TEXTS[0]], 8)
            for column in TEXTS[1:]
            for text in column
        ]
        return np.array([[rows[2 * n + m][m] for n in range(3)] for m in range(2)])  # fmt: skip
    queries = of_kind.encode(model, TEXTS[0], 8, "query")
    columns = [of_kind.encode(model, column, 8, "document") for column in TEXTS[1:]]
    if kind == "multi-vector":
        return np.array([[(queries[m] @ column[m].T).max(axis=1).sum() for column in columns] for m in range(2)])
    if kind == "sparse-encoder":
        queries, columns = queries.toarray(), [column.toarray() for column in columns]
    return np.array([[queries[m] @ column[m] for column in columns] for m in range(2)])


def loss_of(kind, name, model, **settings):
    """The loss of the lists, computed as its trainer does."""
    loss = adapter(kind).training().loss(name, model, None, **settings)
    if kind == "cross-encoder":
        return loss(TEXTS, list(LABELS)).item()
    tasks = ["query", *["document"] * (len(TEXTS) - 1)]
    features = [
        {**model.preprocess(texts, task=task), "task": task} if kind == "multi-vector" else model.preprocess(texts)
        for texts, task in zip(TEXTS, tasks, strict=True)
    ]
    value = loss(features, LABELS)
    return (value["base_loss"] if isinstance(value, dict) else value).item()


@pytest.mark.parametrize(
    ("kind", "similarity"),
    [
        ("bi-encoder", "cosine"),
        ("bi-encoder", "dot"),
        ("sparse-encoder", ""),
        ("multi-vector", ""),
        ("cross-encoder", ""),
    ],
)
def test_each_student_is_held_to_the_teacher_by_the_scores_that_it_ranks_by(folders, kind, similarity):
    torch.manual_seed(1)
    model = adapter(kind).load(folders[kind], 16, to_train=True)
    if kind == "bi-encoder":
        model.similarity_fn_name = similarity
    model.eval()
    margin_loss, list_loss = list(adapter(kind).DISTILLED)[:2]
    cosine = similarity == "cosine"
    assert scale_of(model, None) == (20 if cosine else 1) and scale_of(model, 3.0) == 3
    teacher = LABELS.numpy()
    for scale in (None, 0.5) if kind != "cross-encoder" else (None,):
        own = scored(kind, model) * (scale or (20 if cosine else 1))
        given = {} if scale is None else {"scale": scale}
        expected = ((own[:, :1] - own[:, 1:] - (teacher[:, :1] - teacher[:, 1:])) ** 2).mean()
        assert loss_of(kind, margin_loss, model, **given) == pytest.approx(expected, rel=1e-4)
        expected = np.mean([
            9 * (p * np.log(p / q)).sum()
            for p, q in zip(map(softmax, teacher / 3), map(softmax, own / 3), strict=True)
        ])  # fmt: skip
        assert loss_of(kind, list_loss, model, temperature=3.0, **given) == pytest.approx(expected, rel=1e-3, abs=1e-6)
