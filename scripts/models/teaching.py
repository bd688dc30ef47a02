"""The losses by which a model learns from a teacher's scores: the shapes of their examples, and which one fits.

Each kind of model lists its own in DISTILLED, beside the losses that need no teacher. This stands without the library,
as scripts/models/losses.py does, since a configuration is checked with it; a test holds it against the library.
"""

from __future__ import annotations

from scripts.common.errors import UserError
from scripts.models.adapters import adapter

# (anchor, positive, negatives …, scores), one row per query and positive; a score of each document, the positive first.
SCORED = "scored lists"
# (query, document, score), one row per document.
SCORED_PAIRS = "scored pairs"

# The keys of a recipe that only a teacher gives a meaning.
KEYS = ("temperature", "scale")
MARGINS, LISTS = "MarginMSELoss", "DistillKLDivLoss"  # how the library's names end, with or without a kind before them
COSINE_SCALE = 20.0  # of cosines, where none is given: that of the library's MultipleNegativesRankingLoss


def distilled(kind: str) -> dict[str, str]:
    """The losses with a teacher that a kind of model has -> the shape of examples that each takes."""
    return dict(getattr(adapter(kind), "DISTILLED", {}))


def resolve_taught(name: str, kind: str, split: bool = False) -> str:
    """The library's name of a loss with a teacher for a model of this kind; `auto` is its default.

    MarginMSELoss and DistillKLDivLoss stand for a kind's own loss of that sort, so that one recipe fits all kinds.
    Raises UserError for a loss that takes no teacher's scores, and where texts are `split` into passages.
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
    """What to say of a loss that a kind of model has with a teacher only, where there is none; None for any other."""
    of_kind = distilled(kind)
    if name not in of_kind and not (name in (MARGINS, LISTS) and of_kind):
        return None
    return f"loss {name!r} compares with a teacher's scores; name a teacher, a system with a cross-encoder"


def has_temperature(loss: str) -> bool:
    """Whether a loss compares softened distributions."""
    return loss.endswith(LISTS)
