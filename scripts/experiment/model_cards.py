"""What a model card says that published weights were trained on: `datasets` of the front matter of README.md.

Read where the weights lie as a folder, here or among the downloads, and only for a model of which the configuration
does not say it. A card comes from outside: what cannot be read is as if it were not there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from scripts.common.characters import REFUSED
from scripts.engine.downloads import plain_name
from scripts.experiment.results_paths import path
from scripts.models.model_keys import Model

CARD = "README.md"
LONGEST = 1 << 18  # characters of a card that are read
MOST, LONGEST_NAME = 200, 200  # datasets, and characters of the name of one
FENCE = "---\n"


def with_cards(models: Mapping[str, Model], datasets: Collection[str]) -> dict[str, Model]:
    """The models; one of which nobody said it was trained on what its card names."""
    return {name: _with_card(model, datasets) for name, model in models.items()}


def letters(name: str) -> str:
    """A name without capitals and punctuation, by which `ms_marco` is known as `msmarco`."""
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
    """The datasets that the card in a model's folder names; None where there is none, or it names none."""
    try:
        with open(folder / CARD, encoding="utf-8") as file:
            before, front_matter, _ = file.read(LONGEST).split(FENCE, 2)
        front = None if before else yaml.safe_load(front_matter)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None
    return _plain_names(front.get("datasets")) if isinstance(front, dict) else None


def _plain_names(datasets: Any) -> list[str] | None:
    """Names that can stand in a sentence; None where they are none, or no names."""
    names = [datasets] if isinstance(datasets, str) else datasets
    if not isinstance(names, list) or not 0 < len(names) <= MOST:
        return None
    plain = (isinstance(name, str) and 0 < len(name.strip()) <= LONGEST_NAME for name in names)
    return names if all(plain) and not any(map(REFUSED.search, names)) else None
