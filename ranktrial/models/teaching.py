"""The losses on a teacher's scores: the shapes of their examples, and which loss fits which model.

Each type of model lists its own in DISTILLED, separately from the losses without a teacher. Like
ranktrial/models/losses.py, this module does not need the library, since configurations are checked with it; a test
compares it with the library.
"""

from __future__ import annotations

from ranktrial.common.errors import UserError
from ranktrial.models.adapters import adapter

# (anchor, positive, negatives …, scores), one row per query and positive; one score per document, the positive first.
SCORED = "scored lists"
# (query, document, score), one row per document.
SCORED_PAIRS = "scored pairs"

# The recipe keys that only apply with a teacher.
KEYS = ("temperature", "scale")
MARGINS, LISTS = (
    "MarginMSELoss",
    "DistillKLDivLoss",
)  # the ends of the library's names, which may begin with a type
COSINE_SCALE = 20.0  # default scale of cosines: that of the library's MultipleNegativesRankingLoss


def distilled(model_type: str) -> dict[str, str]:
    """The losses with a teacher of a type of model -> their example shapes."""
    return dict(getattr(adapter(model_type), "DISTILLED", {}))


def resolve_taught(name: str, model_type: str, split: bool = False) -> str:
    """The library's name of a loss with a teacher for a model of this type; `auto` is the model type's default.

    MarginMSELoss and DistillKLDivLoss stand for the type's own variant, so that one recipe fits all types. Raises
    UserError for a loss that takes no teacher's scores, and if texts are `split` into passages.
    """
    losses = distilled(model_type)
    if not losses:
        raise UserError(f"a {model_type} cannot learn from a teacher here")
    if split:
        raise UserError("a teacher's scores are of whole documents, and long_documents: passages learns from parts")
    if name == "auto":
        return adapter(model_type).DEFAULT_DISTILLED
    own = next((loss for loss in losses if name in (MARGINS, LISTS) and loss.endswith(name)), name)
    if own not in losses:
        raise UserError(f"loss {name!r} takes no teacher's scores; with a teacher use auto or {', '.join(losses)}")
    return own


def lacks_teacher(name: str, model_type: str) -> str | None:
    """The problem with a loss that a type of model only has with a teacher, without one; None for any other loss."""
    of_type = distilled(model_type)
    if name not in of_type and not (name in (MARGINS, LISTS) and of_type):
        return None
    return f"loss {name!r} compares with a teacher's scores; name a teacher, a system with a cross-encoder"


def has_temperature(loss: str) -> bool:
    """Whether a loss compares distributions softened by a temperature."""
    return loss.endswith(LISTS)
