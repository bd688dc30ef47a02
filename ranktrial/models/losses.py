"""The sentence-transformers losses that a recipe may name: their example shapes, and which loss fits which model.

Each type of model lists its own losses (see adapters). Configurations are checked with these lists, so they do not need
the library; a test compares them with it.
"""

from __future__ import annotations

from ranktrial.common.errors import UserError
from ranktrial.common.wording import near
from ranktrial.models.adapters import adapter, adapters
from ranktrial.models.teaching import distilled, lacks_teacher, resolve_taught

# (anchor, positive, negatives …), one row per query and positive; the other texts of a batch are negatives as well.
LISTS = "lists"
# (anchor, positive, negative), one row per negative.
TRIPLETS = "triplets"
# (query, document, label), one row per document, with label 1 or 0.
PAIRS = "pairs"
# (query, documents, labels), one row per query: its positives with label 1, then its negatives with label 0.
RANKED = "ranked"

# The recipe keys for the weights of a loss's regularizers, if the loss has any (REGULARIZED of an adapter).
REGULARIZERS = ("document_regularizer_weight", "query_regularizer_weight")


def resolve_loss(name: str, model_type: str, split: bool = False, taught: bool = False) -> str:
    """The library's name of a loss for a model of this type; `auto` is the model type's default.

    Raises UserError for a loss that is unknown or needs inputs other than queries with positives and negatives. If
    texts are `split`, also for a loss that does not take labelled pairs: within a batch, it would treat one passage of
    a relevant document as irrelevant to the others' queries. If the model is `taught`, the loss must be one on a
    teacher's scores; otherwise it must not.
    """
    if taught:
        return resolve_taught(name, model_type, split)
    module = adapter(model_type)
    losses = module.LOSSES
    if not losses:
        raise UserError(f"a {model_type} cannot be trained here: a system uses it as it is, without a recipe")
    if split and PAIRS not in losses.values():
        problem = "makes labelled pairs of passages, and no loss of"
        raise UserError(f"long_documents: passages {problem} a {model_type} takes such pairs; leave it out")
    if name == "auto":
        name = module.DEFAULT_LOSS_OF_PASSAGES if split else module.DEFAULT_LOSS
    if name not in losses and (problem := lacks_teacher(name, model_type)):
        raise UserError(problem)
    if name not in losses:
        raise UserError(
            f"loss {name!r} is not one that a {model_type} can be trained with here: {_hint(name, losses)}use auto or "
            f"{', '.join(losses)} (others of the library need a teacher's scores or class labels)"
        )
    if split and losses[name] != PAIRS:
        fit = [loss for loss, shape in losses.items() if shape == PAIRS]
        problem = "does not go with long_documents: passages, which makes labelled pairs of passages"
        raise UserError(f"loss {name!r} {problem}; use auto or {', '.join(fit)}")
    return name


def shape_of(loss: str, model_type: str, taught: bool) -> str:
    """The example shape of a resolved loss."""
    return distilled(model_type)[loss] if taught else adapter(model_type).LOSSES[loss]


def with_margin(names: dict[str, str], loss: str, margin: float | None) -> dict[str, float]:
    """The margin argument of a loss, under the library's name in `names`; empty if the loss keeps its default."""
    return {} if margin is None else {names[loss]: margin}


def _hint(name: str, losses: dict[str, str]) -> str:
    """A suggestion for a loss name that does not fit: the model type that has this loss, or a similar name."""
    others = [
        model_type
        for model_type, module in adapters().items()
        if name in module.LOSSES or name in distilled(model_type)
    ]
    if others:
        return f"it is for a {others[0]}; "
    question = near(name, losses)
    return f"{question} " if question else ""
