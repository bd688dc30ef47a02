"""A small collection in BEIR's layout."""

import json
from collections.abc import Iterable
from pathlib import Path

HEADING = "query-id\tcorpus-id\tscore\n"


def write_beir(folder: Path, documents: dict | list, queries: dict, judged: dict[str, Iterable[str]], heading=HEADING):
    """Documents are records, or texts by id; judgements of each split are lines. Gives the folder."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    if isinstance(documents, dict):
        documents = [{"_id": name, "title": "", "text": text} for name, text in documents.items()]
    asked = [{"_id": name, "text": text} for name, text in queries.items()]
    for name, records in (("corpus", documents), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    for split, lines in judged.items():
        (folder / f"qrels/{split}.tsv").write_text(heading + "".join(f"{line}\n" for line in lines))
    return folder
