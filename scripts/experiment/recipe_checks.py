"""The checks of what a recipe and a model say of positives, negatives, their losses and the lengths of texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.common.errors import UserError
from scripts.experiment.adapter_checks import check_dimensions
from scripts.experiment.checker import Checker
from scripts.experiment.negative_sources import CROSS_ENCODER, FILTERS, RANDOM, filters, sources
from scripts.experiment.teachers import TEACHER, check_loss_of_students
from scripts.models.adapters import Adapter, adapter, adapters
from scripts.models.losses import REGULARIZERS, resolve_loss
from scripts.models.prompts import takes_prompts

OF_RANKING = {"sampling_strategy": "top", "range_min": 0}  # keys of negatives that choose in a ranking; their defaults


def check_examples(check: Checker, name: str, entry: dict[str, Any]) -> None:
    """Raise UserError for keys of positives and negatives that do not go together."""
    negatives, positives = entry["negatives"], entry.get("positives", {})
    key = f"recipes.{name}.negatives"
    ranked = sources(negatives)
    if RANDOM in ranked and len(ranked) > 1:
        raise check.fail(f"{key}.from", "random ranks nothing that could be taken in turn; name bm25 and systems")
    if RANDOM in ranked:
        only = "only valid with from: bm25, whose ranking it is of, or from: a system"
        for word in (*OF_RANKING, *FILTERS, CROSS_ENCODER):
            if word in negatives and negatives[word] != OF_RANKING.get(word):
                raise check.fail(f"{key}.{word}", only)
        if "range_max" in negatives and not positives.get("among_candidates"):
            raise check.fail(f"{key}.range_max", f"{only}, or with positives.among_candidates")
    _check_filters(check, key, negatives)
    least, most = negatives.get("range_min", 0), negatives.get("range_max")
    if most is not None and RANDOM not in ranked and negatives["per_query"] > (most - least) * len(ranked):
        problem = f"{negatives['per_query']} are more than the {max(most - least, 0) * len(ranked)} candidates"
        raise check.fail(f"{key}.per_query", f"{problem} from range_min {least} to range_max {most}")
    if negatives.get("draw", "once") == "epoch":
        _check_draw(check, name, entry)


def _check_filters(check: Checker, key: str, negatives: dict[str, Any]) -> None:
    """The rules that filter fit each other, and there is one scale of scores."""
    given = filters(negatives)
    least, most = given.get("min_score"), given.get("max_score")
    if least is not None and most is not None and least > most:
        raise check.fail(f"{key}.min_score", f"{least:g} is above max_score {most:g}, so no candidate would be left")
    if CROSS_ENCODER in negatives and not given:
        raise check.fail(f"{key}.{CROSS_ENCODER}", f"filters by {', '.join(FILTERS)}, and none of them is given")
    if given and CROSS_ENCODER not in negatives and len(sources(negatives)) > 1:
        problem = f"scores of {' and '.join(sources(negatives))} have no common scale"
        raise check.fail(
            f"{key}.{next(iter(given))}", f"{problem}; give a {CROSS_ENCODER}, which scores all candidates"
        )


def _check_draw(check: Checker, name: str, entry: dict[str, Any]) -> None:
    """A draw for each epoch: something is drawn, in whole epochs with equally many rows."""
    negatives, key = entry["negatives"], f"recipes.{name}.negatives.draw"
    by_chance = negatives["from"] == RANDOM or negatives.get("sampling_strategy", "top") == "random"
    if not by_chance and entry.get("positives", {}).get("per_query", "all") == "all":
        problem = "epoch, but nothing is drawn: take sampling_strategy: random, from: random or positives.per_query"
        raise check.fail(key, problem)
    if entry["epochs"] != int(entry["epochs"]):
        raise check.fail(f"recipes.{name}.epochs", f"{entry['epochs']:g} with draw: epoch; expected a whole number")
    if entry["long_documents"] == "passages":
        problem = "epoch does not go with long_documents: passages, of which each epoch would have another number"
        raise check.fail(key, problem)


def check_training(check: Checker, name: str, entry: dict[str, Any], kinds: list[str]) -> None:
    """Raise UserError for a margin of a loss that has none, or a rate for a head that no model of these kinds has."""
    if "head_learning_rate" in entry and not any(getattr(adapter(kind), "HAS_HEAD", False) for kind in kinds):
        problem = f"a {kinds[0]} has no prediction head; leave it out"
        raise check.fail(f"recipes.{name}.head_learning_rate", problem)
    check_dimensions(check, name, entry, kinds)
    for weight in REGULARIZERS:
        if weight in entry and not any(_is_regularized(entry, kind) for kind in kinds):
            problem = f"loss {entry['loss']} has none here; SpladeLoss of a sparse-encoder has"
            raise check.fail(f"recipes.{name}.{weight}", problem)
    check_loss_of_students(check, name, entry, kinds)
    if "margin" in entry and not any(_has_margin(entry, kind) for kind in kinds):
        with_one = sorted({loss for kind in kinds for loss in getattr(adapter(kind), "MARGINS", {})})
        hint = f"; of these models' losses {', '.join(with_one)} have one" if with_one else ""
        raise check.fail(f"recipes.{name}.margin", f"loss {entry['loss']} has none{hint}")


def _has_margin(entry: dict[str, Any], kind: str) -> bool:
    return _loss(entry, kind) in getattr(adapter(kind), "MARGINS", {})


def _is_regularized(entry: dict[str, Any], kind: str) -> bool:
    return _loss(entry, kind) in getattr(adapter(kind), "REGULARIZED", ())


def _loss(entry: dict[str, Any], kind: str) -> str | None:
    """The loss by which a recipe trains a kind of model; None where it is another kind's."""
    try:
        return resolve_loss(entry["loss"], kind, entry["long_documents"] == "passages", TEACHER in entry)
    except UserError:
        return None


def _kinds_that(able: Callable[[Adapter], bool]) -> str:
    """Kinds of model for which `able` holds, as text: `bi-encoders, multi-vectors and sparse-encoders`."""
    kinds = [f"{kind}s" for kind, module in adapters().items() if able(module)]
    return " and ".join(part for part in (", ".join(kinds[:-1]), kinds[-1]) if part)


def check_prompts(check: Checker, name: str, entry: dict[str, Any]) -> None:
    """Raise UserError for prompts of a kind of model that takes none."""
    if entry.get("prompts") and not takes_prompts(adapter(entry["type"])):
        able = _kinds_that(takes_prompts)
        raise check.fail(f"models.{name}.prompts", f"a {entry['type']} takes none; {able} do")


def check_lengths(check: Checker, name: str, entry: dict[str, Any]) -> None:
    """Raise UserError for queries and documents that cannot fit into a model's max_length, which special tokens share.

    How many these are is known when the model is loaded, and is checked then.
    """
    given = {key: entry[key] for key in ("max_query_length", "max_document_length") if key in entry}
    if not given:
        return
    if not hasattr(adapter(entry["type"]), "tokenizer"):
        able = _kinds_that(lambda module: hasattr(module, "tokenizer"))
        raise check.fail(f"models.{name}.{next(iter(given))}", f"a {entry['type']} takes none; {able} do")
    in_pairs = not adapter(entry["type"]).SEARCHES
    whole = sum(given.values()) if in_pairs else max(given.values())
    if whole >= entry["max_length"]:
        words = " and ".join(f"{key} {value}" for key, value in given.items())
        problem = (
            f"{words} leave no room for special tokens within max_length {entry['max_length']}; raise it or lower them"
        )
        raise check.fail(f"models.{name}", problem)
