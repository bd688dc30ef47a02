"""The losses that recipes may name, held against those of sentence-transformers itself."""

import pytest

from scripts.models.adapters import adapters
from scripts.models.losses import PAIRS, resolve_loss

NOT_HERE = {
    "bi-encoder": """AdaptiveLayerLoss BatchAllTripletLoss BatchHardSoftMarginTripletLoss BatchHardTripletLoss
        BatchSemiHardTripletLoss CachedGISTEmbedLoss CachedMultipleNegativesSymmetricRankingLoss ContrastiveTensionLoss
        ContrastiveTensionLossInBatchNegatives DenoisingAutoEncoderLoss DistillKLDivLoss EmbedDistillLoss GISTEmbedLoss
        GlobalOrthogonalRegularizationLoss MSELoss MarginMSELoss Matryoshka2dLoss MatryoshkaLoss MegaBatchMarginLoss
        MultipleNegativesSymmetricRankingLoss SoftmaxLoss""",
    "sparse-encoder": """CSRLoss CSRReconstructionLoss CachedSpladeLoss FlopsLoss SparseAnglELoss SparseCoSENTLoss
        SparseCosineSimilarityLoss SparseDistillKLDivLoss SparseMSELoss SparseMarginMSELoss
        SparseMultipleNegativesRankingLoss SparseTripletLoss""",
    "multi-vector": "MultiVectorDistillKLDivLoss MultiVectorMarginMSELoss",
    "cross-encoder": "ADRMSELoss CrossEntropyLoss MarginMSELoss",
}

OUR_OWN = ("MarginRankingLoss",)  # in scripts/models/margin_ranking.py


@pytest.mark.parametrize("kind", NOT_HERE)
def test_the_table_of_losses_is_that_of_the_library(kind):
    import torch
    from sentence_transformers.cross_encoder import losses as cross_losses
    from sentence_transformers.multi_vector_encoder import losses as multi_losses
    from sentence_transformers.sentence_transformer import losses as bi_losses
    from sentence_transformers.sparse_encoder import losses as sparse_losses

    losses = adapters()[kind].LOSSES
    library = {
        **{"bi-encoder": bi_losses, "cross-encoder": cross_losses},
        **{"multi-vector": multi_losses, "sparse-encoder": sparse_losses},
    }[kind]
    theirs = {name for name in library.__all__ if issubclass(getattr(library, name), torch.nn.Module)}
    assert {name for name in theirs if name.endswith(("Loss", "InBatchNegatives"))} == {
        *(loss for loss in losses if loss not in OUR_OWN),
        *NOT_HERE[kind].split(),
    }
    for loss, shape in losses.items():
        assert resolve_loss(loss, kind) == loss
        if shape == PAIRS:
            assert resolve_loss(loss, kind, split=True) == loss
