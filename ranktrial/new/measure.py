"""The measure of files of scores, from a heading or word that all files share; reads and writes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ranktrial.ir.measure_names import canonical
from ranktrial.new.names import stem

NO_MEASURE = "score"
# Measures of classification, question answering, translation and correlation, all higher for better systems. Retrieval
# measures are recognised by ir-measures.
_KNOWN = ("accuracy", "acc", "f1", "mcc", "matthews", "precision", "recall", "em", "bleu", "chrf", "rouge", "meteor",
          "pearson", "spearman", "kendall", "auc", "acc_norm", "exact_match", "mrr", "map")  # fmt: skip


def measure_in(files: Iterable[str], headings: Mapping[str, Sequence[str]]) -> str:
    """Return the known measure that is in each file the heading of its only column, or in its name; empty if none."""
    of_headings = [set(names) if len(names) == 1 else set() for names in headings.values()]
    of_names = [set(re.split(r"[^A-Za-z0-9@]+", stem(file))) for file in files]
    for words in (of_headings, of_names):
        if common := sorted(filter(is_known_measure, set.intersection(*words))):
            name: str = common[-1]
            return name
    return ""


def is_known_measure(word: str) -> bool:
    """Whether a word is a measure of retrieval, by its name in ir-measures or trec_eval, or another common one."""
    if word.lower() in _KNOWN:
        return True
    return not word.isdigit() and canonical(word) is not None
