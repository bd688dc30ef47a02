"""The pairwise losses: by hand, their gradients, against torch's and the library's, and a training that learns."""

import csv

import pytest

from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait

# isort: split
import torch

from ranktrial.ir.collection import passages_of
from ranktrial.models.adapters import adapter
from ranktrial.models.cross_encoding import MarginRankingLoss, PairwiseSoftmaxLoss
from tests.support.tiny_bert import build
from tests.support.tiny_task import WORDS, train, write_good_and_bad


class Scores(torch.nn.Module):
    """Stands where a cross-encoder does: the score of a pair is a number that the texts name."""

    device = torch.device("cpu")

    def __init__(self, scores):
        super().__init__()
        self.scores = torch.nn.Parameter(torch.tensor(list(scores.values()), dtype=torch.float64))
        self.places = {pair: place for place, pair in enumerate(scores)}

    def preprocess(self, pairs, prompt=None, task=None):
        return {"places": torch.tensor([self.places[pair] for pair in pairs])}

    def forward(self, features):
        return {"scores": self.scores[features["places"]].unsqueeze(1)}


# (query, document) -> score; the differences are 2, 0.25 and -1.5
GIVEN = {("q", "a"): 3.0, ("q", "b"): 1.0, ("r", "a"): 0.5, ("r", "c"): 0.25, ("s", "b"): -1.0, ("s", "c"): 0.5}
TRIPLETS = [["q", "r", "s"], ["a", "a", "b"], ["b", "c", "c"]]


def test_the_loss_and_its_gradients_by_hand():
    model = Scores(GIVEN)
    loss = MarginRankingLoss(model)
    value = loss(TRIPLETS, None)
    # max(0, 1 - 2) = 0, max(0, 1 - 0.25) = 0.75, max(0, 1 + 1.5) = 2.5
    assert value.item() == pytest.approx((0 + 0.75 + 2.5) / 3, abs=1e-15)
    value.backward()
    # a pair inside the margin pulls its relevant document up by 1/3 and pushes the other down by as much
    assert model.scores.grad.tolist() == pytest.approx([0, 0, -1 / 3, 1 / 3, -1 / 3, 1 / 3], abs=1e-15)


@pytest.mark.parametrize("margin", [0.1, 1.0, 2.0, 5.0])
def test_it_is_torchs_formula_with_target_1(margin):
    model = Scores(GIVEN)
    scores = list(GIVEN.values())
    relevant, others = (torch.tensor(scores[first::2], dtype=torch.float64) for first in (0, 1))
    expected = torch.nn.MarginRankingLoss(margin)(relevant, others, torch.ones(3))
    assert MarginRankingLoss(model, margin)(TRIPLETS).item() == pytest.approx(expected.item(), abs=1e-15)


def test_the_softmax_loss_is_the_share_of_the_other_document():
    """As CEDR and OpenNIR have it, 1 - softmax(scores)[relevant]; no logarithm."""
    model = Scores(GIVEN)
    loss = PairwiseSoftmaxLoss(model)(TRIPLETS, None)
    scores = torch.tensor(list(GIVEN.values()), dtype=torch.float64).reshape(3, 2)
    assert loss.item() == pytest.approx((1 - scores.softmax(dim=1)[:, 0]).mean().item(), abs=1e-15)
    # differences of 2, 0.25 and -1.5: 1 / (1 + e^2), 1 / (1 + e^0.25), 1 / (1 + e^-1.5)
    assert loss.item() == pytest.approx((0.11920292 + 0.43782350 + 0.81757448) / 3, abs=1e-8)
    loss.backward()
    assert model.scores.grad[0].item() == pytest.approx(-0.11920292 * 0.88079708 / 3, abs=1e-8)


def test_the_librarys_ranknet_is_the_logarithm_of_that_softmax(tmp_path):
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder.losses import RankNetLoss

    build(tmp_path / "start", [" ".join(WORDS)], seed=1)
    model = CrossEncoder(str(tmp_path / "start"), num_labels=1, device="cpu")
    theirs = RankNetLoss(model)([["ashen"], [["elmlet", "oakwood"]]], [torch.tensor([1.0, 0.0])])
    ours = PairwiseSoftmaxLoss(model)([["ashen"], ["elmlet"], ["oakwood"]])
    assert theirs.item() == pytest.approx(-torch.log2(1 - ours).item(), abs=1e-6)


@pytest.mark.parametrize("loss", [{"loss": "MarginRankingLoss", "margin": 0.5}, {"loss": "PairwiseSoftmaxLoss"}])
def test_a_training_learns_to_rank_the_relevant_document_first(tmp_path, loss):
    """Relevant documents begin with a word that the others lack; other queries and documents than those learnt from."""
    build(tmp_path / "start", [" ".join([*WORDS, "good", "bad", "tree"])], seed=1)
    write_good_and_bad(tmp_path)
    with open(tmp_path / "negatives.tsv", "w") as file:
        lines = csv.writer(file, delimiter="\t", lineterminator="\n")
        lines.writerow(["query_id", "positive_id", "negative_id", "source", "bm25_rank"])
        lines.writerows([f"q{n}", f"good{n}", f"bad{(n + 1) % 12}", "bm25", ""] for n in range(12))
    settings = {"type": "cross-encoder", "epochs": 20, **loss}
    train(tmp_path, tmp_path / "out", **settings)
    scorer = adapter("cross-encoder").load_scorer(tmp_path / "out" / "model", 16, 8, "torch")
    documents = passages_of(tmp_path / "corpus.jsonl")
    for n in range(12, 20):
        pairs = [(f"{WORDS[n]} tree", documents[name][0]) for name in (f"good{n}", f"bad{n}")]
        good, bad = scorer.score(pairs)  # each pair alone: inference is pointwise
        assert good > bad
