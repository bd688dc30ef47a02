"""The measure of files of scores, from a heading or word that all files share; reads and writes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from scripts.common.errors import UserError
from scripts.ir.measure_names import parse
from scripts.new.names import stem

NO_MEASURE = "score"
# Measures of classification, question answering, translation and correlation, all higher for better systems. Retrieval
# measures are recognised by ir-measures.
_KNOWN = ("accuracy", "acc", "f1", "mcc", "matthews", "precision", "recall", "em", "bleu", "chrf", "rouge", "meteor",
          "pearson", "spearman", "kendall", "auc")  # fmt: skip


def measure_in(files: Iterable[str], headings: Mapping[str, Sequence[str]]) -> str:
    """Return the known measure that is in each file the heading of its only column, or in its name; empty if none."""
    of_headings = [set(names) if len(names) == 1 else set() for names in headings.values()]
    of_names = [set(re.split(r"[^A-Za-z0-9@]+", stem(file))) for file in files]
    for words in (of_headings, of_names):
        if common := sorted(filter(_is_known, set.intersection(*words))):
            name: str = common[-1]
            return name
    return ""


def _is_known(word: str) -> bool:
    if word.lower() in _KNOWN:
        return True
    try:
        parse(word)
    except UserError:
        return False
    return True
