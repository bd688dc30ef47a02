"""The losses on a teacher's scores: the shapes of their examples, and which loss fits which model.

Each kind of model lists its own in DISTILLED, separately from the losses without a teacher. Like
scripts/models/losses.py, this module does not need the library, since configurations are checked with it; a test
compares it with the library.
"""

from __future__ import annotations

from scripts.common.errors import UserError
from scripts.models.adapters import adapter

# (anchor, positive, negatives …, scores), one row per query and positive; one score per document, the positive first.
SCORED = "scored lists"
# (query, document, score), one row per document.
SCORED_PAIRS = "scored pairs"

# The recipe keys that only apply with a teacher.
KEYS = ("temperature", "scale")
MARGINS, LISTS = "MarginMSELoss", "DistillKLDivLoss"  # the ends of the library's names, which may begin with a kind
COSINE_SCALE = 20.0  # default scale of cosines: that of the library's MultipleNegativesRankingLoss


def distilled(kind: str) -> dict[str, str]:
    """The losses with a teacher of a kind of model -> their example shapes."""
    return dict(getattr(adapter(kind), "DISTILLED", {}))


def resolve_taught(name: str, kind: str, split: bool = False) -> str:
    """The library's name of a loss with a teacher for a model of this kind; `auto` is the kind's default.

    MarginMSELoss and DistillKLDivLoss stand for the kind's own variant, so that one recipe fits all kinds. Raises
    UserError for a loss that takes no teacher's scores, and if texts are `split` into passages.
    """
    losses = distilled(kind)
    if not losses:
        raise UserError(f"a {kind} cannot learn from a teacher here")
    if split:
        raise UserError("a teacher's scores are of whole documents, and long_documents: passages learns from parts")
    if name == "auto":
        return adapter(kind).DEFAULT_DISTILLED
    own = next((loss for loss in losses if name in (MARGINS, LISTS) and loss.endswith(name)), name)
    if own not in losses:
        raise UserError(f"loss {name!r} takes no teacher's scores; with a teacher use auto or {', '.join(losses)}")
    return own


def lacks_teacher(name: str, kind: str) -> str | None:
    """The problem with a loss that a kind of model only has with a teacher, without one; None for any other loss."""
    of_kind = distilled(kind)
    if name not in of_kind and not (name in (MARGINS, LISTS) and of_kind):
        return None
    return f"loss {name!r} compares with a teacher's scores; name a teacher, a system with a cross-encoder"


def has_temperature(loss: str) -> bool:
    """Whether a loss compares distributions softened by a temperature."""
    return loss.endswith(LISTS)
