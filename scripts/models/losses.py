"""The losses of sentence-transformers that a recipe may name, by kind of model and by the examples that each takes.

A configuration is checked with this table, so it stands without the library; a test holds it against the library's own.
"""

from __future__ import annotations

import difflib

from scripts.common.errors import UserError

# (anchor, positive, negatives …), one row a query and positive; the other texts of a batch serve as negatives as well.
LISTS = "lists"
# (anchor, positive, negative), one row a negative.
TRIPLETS = "triplets"
# (query, document, label), one row a document, with label 1 or 0.
PAIRS = "pairs"
# (query, documents, labels), one row a query: its positives with label 1, then its negatives with label 0.
RANKED = "ranked"

SHAPES = {
    "bi-encoder": {
        "MultipleNegativesRankingLoss": LISTS,
        "CachedMultipleNegativesRankingLoss": LISTS,
        "TripletLoss": TRIPLETS,
        "ContrastiveLoss": PAIRS,
        "OnlineContrastiveLoss": PAIRS,
        "CosineSimilarityLoss": PAIRS,
        "CoSENTLoss": PAIRS,
        "AnglELoss": PAIRS,
    },
    "cross-encoder": {
        "BinaryCrossEntropyLoss": PAIRS,
        "MSELoss": PAIRS,
        "LambdaLoss": RANKED,
        "RankNetLoss": RANKED,
        "ListNetLoss": RANKED,
        "ListMLELoss": RANKED,
        "PListMLELoss": RANKED,
        "MultipleNegativesRankingLoss": LISTS,
        "CachedMultipleNegativesRankingLoss": LISTS,
    },
}
DEFAULTS = {"bi-encoder": "MultipleNegativesRankingLoss", "cross-encoder": "BinaryCrossEntropyLoss"}
SPLIT_DEFAULTS = DEFAULTS | {"bi-encoder": "ContrastiveLoss"}


def resolve_loss(name: str, kind: str, split: bool = False) -> str:
    """The library's name of a loss for a model of this kind (bi-encoder | cross-encoder); `auto` is its default.

    Raises UserError for a loss that is unknown or needs inputs other than queries with positives and negatives, and
    where texts are `split` for one that does not take labelled pairs: in a batch, it would take one passage of a
    relevant document for irrelevant to the others' queries.
    """
    name = (SPLIT_DEFAULTS if split else DEFAULTS)[kind] if name == "auto" else name
    if name not in SHAPES[kind]:
        others = [other for other in SHAPES if name in SHAPES[other]]
        close = difflib.get_close_matches(name, SHAPES[kind], 1)
        hint = f"it is for a {others[0]}; " if others else f"did you mean {close[0]}? " if close else ""
        raise UserError(
            f"loss {name!r} is not one that a {kind} can be trained with here: {hint}use auto or "
            f"{', '.join(SHAPES[kind])} (others of the library need a teacher's scores or class labels)"
        )
    if split and SHAPES[kind][name] != PAIRS:
        fit = [loss for loss, shape in SHAPES[kind].items() if shape == PAIRS]
        raise UserError(f"loss {name!r} does not go with long_documents: passages, which makes labelled pairs of them; "
                        f"use auto or {', '.join(fit)}")  # fmt: skip
    return name
