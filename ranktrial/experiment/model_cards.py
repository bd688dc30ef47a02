"""Training data of published weights from the model card: `datasets` in the front matter of README.md.

The card is read if the weights are a folder, local or downloaded, and only for models whose training data the
configuration does not state. Cards are external files: an unreadable card is treated as missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ranktrial.common.characters import REFUSED
from ranktrial.common.errors import UserError
from ranktrial.common.front_matter import front_matter
from ranktrial.engine.downloads import plain_name
from ranktrial.experiment.results_paths import path
from ranktrial.models.model_keys import Model

CARD = "README.md"
LONGEST = 1 << 18  # bytes read from a card, each time that an experiment is planned
MOST, LONGEST_NAME = 200, 200  # datasets, and characters per name


def with_cards(models: Mapping[str, Model], datasets: Collection[str]) -> dict[str, Model]:
    """Return the models; if the configuration states no training data for one, those of its card are added."""
    return {name: _with_card(model, datasets) for name, model in models.items()}


def letters(name: str) -> str:
    """Return a name without capitals and punctuation, so that `ms_marco` matches `msmarco`."""
    return "".join(filter(str.isalnum, name)).casefold()


def _with_card(model: Model, datasets: Collection[str]) -> Model:
    if model.trained_on is not None:
        return model
    folders = (Path(model.weights), Path(path("download", download=plain_name(model.weights))))
    named = next(filter(None, map(named_by_card, folders)), None)
    if named is None:
        return model
    here = {letters(dataset): dataset for dataset in datasets}
    known = dict.fromkeys(here.get(letters(name.rpartition("/")[2]), name) for name in named)
    return replace(model, trained_on=tuple(known), trained_on_by_card=True)


def named_by_card(folder: Path) -> list[str] | None:
    """Return the datasets named by the card in a model's folder; None without a card or names."""
    try:
        return _plain_names(front_matter(folder / CARD, "datasets", LONGEST))
    except (OSError, UserError):
        return None


def _plain_names(datasets: Any) -> list[str] | None:
    """Return the names if they can be printed in a sentence; None if there are none or they are not names."""
    names = [datasets] if isinstance(datasets, str) else datasets
    if not isinstance(names, list) or not 0 < len(names) <= MOST:
        return None
    plain = (isinstance(name, str) and 0 < len(name.strip()) <= LONGEST_NAME for name in names)
    return names if all(plain) and not any(map(REFUSED.search, names)) else None
