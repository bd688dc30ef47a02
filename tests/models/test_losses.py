"""The losses that recipes may name, held against those of sentence-transformers itself."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.models.adapters import adapters
from ranktrial.models.losses import PAIRS, resolve_loss

NOT_HERE = {
    "bi-encoder": """AdaptiveLayerLoss BatchAllTripletLoss BatchHardSoftMarginTripletLoss BatchHardTripletLoss
        BatchSemiHardTripletLoss CachedGISTEmbedLoss CachedMultipleNegativesSymmetricRankingLoss ContrastiveTensionLoss
        ContrastiveTensionLossInBatchNegatives DenoisingAutoEncoderLoss EmbedDistillLoss GISTEmbedLoss
        GlobalOrthogonalRegularizationLoss MSELoss Matryoshka2dLoss MatryoshkaLoss MegaBatchMarginLoss
        MultipleNegativesSymmetricRankingLoss SoftmaxLoss""",
    "sparse-encoder": """CSRLoss CSRReconstructionLoss CachedSpladeLoss FlopsLoss SparseAnglELoss SparseCoSENTLoss
        SparseCosineSimilarityLoss SparseMSELoss SparseMultipleNegativesRankingLoss SparseTripletLoss""",
    "multi-vector": "",
    "cross-encoder": "ADRMSELoss CrossEntropyLoss",
}

# in ranktrial/models/cross_encoding.py and distillation.py
OUR_OWN = {"cross-encoder": ("MarginRankingLoss", "PairwiseSoftmaxLoss", "DistillKLDivLoss")}


@pytest.mark.parametrize("kind", NOT_HERE)
def test_the_table_of_losses_is_that_of_the_library(kind):
    import torch
    from sentence_transformers.cross_encoder import losses as cross_losses
    from sentence_transformers.multi_vector_encoder import losses as multi_losses
    from sentence_transformers.sentence_transformer import losses as bi_losses
    from sentence_transformers.sparse_encoder import losses as sparse_losses

    losses, distilled = adapters()[kind].LOSSES, adapters()[kind].DISTILLED
    library = {
        **{"bi-encoder": bi_losses, "cross-encoder": cross_losses},
        **{"multi-vector": multi_losses, "sparse-encoder": sparse_losses},
    }[kind]
    theirs = {name for name in library.__all__ if issubclass(getattr(library, name), torch.nn.Module)}
    assert {name for name in theirs if name.endswith(("Loss", "InBatchNegatives"))} == {
        *(loss for loss in losses | distilled if loss not in OUR_OWN.get(kind, ())),
        *NOT_HERE[kind].split(),
    }
    for loss, shape in losses.items():
        assert resolve_loss(loss, kind) == loss
        if shape == PAIRS:
            assert resolve_loss(loss, kind, split=True) == loss
    for loss in distilled:
        assert resolve_loss(loss, kind, taught=True) == loss
        if loss not in losses:
            with pytest.raises(UserError, match="name a teacher"):
                resolve_loss(loss, kind)
    for sort in ("MarginMSELoss", "DistillKLDivLoss"):  # one recipe for students of all kinds
        assert resolve_loss(sort, kind, taught=True).endswith(sort)
    assert resolve_loss("auto", kind, taught=True) in distilled
