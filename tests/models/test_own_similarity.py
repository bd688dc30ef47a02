"""A bi-encoder learns by the similarity by which it ranks: the dot product as it is, or cosines times 20."""

import pytest

from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait
from ranktrial.models.types import bi_encoder
from tests.support.tiny_bert import build

LISTS = [["ash elm", "oak yew", "fig oak"], ["elm fig", "yew", "ash ash oak"], ["fig", "ash", "oak"]]


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    return build(tmp_path_factory.mktemp("start") / "model", ["ash elm fig oak yew"], seed=2)


def encoded(model, texts):
    return model(model.preprocess(texts))["sentence_embedding"]


@pytest.mark.parametrize("name", sorted(bi_encoder.BY_DOT))
@pytest.mark.parametrize(("similarity", "scale"), [("dot", 1), ("cosine", 20)])
def test_the_loss_is_that_of_the_models_own_similarities(start, name, similarity, scale):
    """By hand from the vectors: cross-entropy over all documents of the batch, or CoSENT's ranking of pairs."""
    import torch

    model = bi_encoder.load(start, 16).eval()
    model.similarity_fn_name = similarity
    loss = bi_encoder.training().loss(name, model)
    vectors = [encoded(model, texts) for texts in LISTS]
    if similarity == "cosine":
        vectors = [torch.nn.functional.normalize(each) for each in vectors]
    queries, positives, negatives = vectors
    if name == "CoSENTLoss":
        labels = torch.tensor([1.0, 0.0, 0.0])
        scores = (queries * positives).sum(1) * scale
        higher = scores[None, :1] - scores[1:, None]
        expected = torch.log(1 + torch.exp(-higher).sum())
        found = loss([model.preprocess(texts) for texts in LISTS[:2]], labels)
    else:
        scores = queries @ torch.cat([positives, negatives]).T * scale
        expected = torch.nn.functional.cross_entropy(scores, torch.arange(3))
        found = loss([model.preprocess(texts) for texts in LISTS], None)
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
