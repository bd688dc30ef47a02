"""What the columns of values in wide tables are: systems, tasks or measures; reads and writes nothing.

Names decide where they are known. Otherwise a file is a task and a column a system, and the draft says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from ranktrial.common.errors import UserError
from ranktrial.new.measure import is_known_measure
from ranktrial.new.names import stem

Columns = Literal["systems", "tasks", "measures"]
CHOICES: tuple[Columns, ...] = ("systems", "tasks", "measures")
# Well-known tasks of classification, language models and retrieval, without signs.
_TASKS = {
    "sst2", "cola", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte", "wnli", "boolq", "copa", "wic", "wsc",
    "cb", "multirc", "record", "gsm8k", "mmlu", "hellaswag", "winogrande", "piqa", "arceasy",
    "arcchallenge", "truthfulqa", "squad", "msmarco", "nfcorpus", "scifact", "fiqa", "treccovid",
    "arguana", "quora", "scidocs", "hotpotqa", "nq", "dbpedia", "fever", "climatefever", "touche2020",
    "cqadupstack", "robust04", "bioasq"
}  # fmt: skip
_SYSTEMS = re.compile(
    r"bm25|bert|baseline|control|gold|splade|colbert|dense|tuned|gpt|llama|minilm|(^|[^a-z])(e5|bge|t5|rrf)",
    re.IGNORECASE,
)


def columns_are(headings: Mapping[str, Sequence[str]], given: str = "") -> Columns:
    """Return what the columns of values are; `given` is the user's word for it. Raises UserError for another word."""
    if given:
        chosen = next((choice for choice in CHOICES if choice == given), None)
        if chosen is None:
            raise UserError(f"COLUMNS={given}: expected one of {', '.join(CHOICES)}")
        return chosen
    names = list(dict.fromkeys(name for of_file in headings.values() for name in of_file))
    if all(map(is_known_measure, names)):
        return "measures"
    files = [stem(file) for file in headings]
    by_columns = [_is_task(name) for name in names], [_is_system(name) for name in names]
    by_files = [_is_task(name) for name in files], [_is_system(name) for name in files]
    if all(by_columns[0]) or (any(by_files[1]) and not any(by_columns[1]) and not any(by_files[0])):
        return "tasks"
    return "systems"


def axes_text(columns: Columns, names: Sequence[str], files: int) -> str:
    """Return how the tables are read and what to give if that is wrong; empty if there is no doubt."""
    listed = f"{', '.join(names[:4])}{', …' if len(names) > 4 else ''}"
    if columns == "measures":
        return f"The columns ({listed}) are read as measures, of which one is compared; MEASURE names another."
    of_files, other = ("a task", "tasks") if columns == "systems" else ("a system", "systems")
    ask = f"Each column ({listed}) is read as a {columns[:-1]}, each file as {of_files}"
    return f"{ask}; if it is the other way round: COLUMNS={other}." if files > 1 or columns == "tasks" else ""


def _is_task(name: str) -> bool:
    return re.sub(r"[^a-z0-9]", "", name.lower()) in _TASKS


def _is_system(name: str) -> bool:
    return _SYSTEMS.search(name) is not None
