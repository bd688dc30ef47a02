"""Judgements only, for the runs of other people's systems: a qrels file, or a folder or archive with one a split."""

from __future__ import annotations

from pathlib import Path

from scripts.common.errors import UserError
from scripts.datasets.formats import Collection, file_in
from scripts.ir.trec import Qrels, read_qrels


def read(root: Path, settings: dict) -> Collection:
    """Read the one file (which is then test's) or those that the settings name. Raises UserError with file and line."""
    files = {"test": root}
    if "qrels" in settings:
        files = {split: file_in(root, name, f"qrels.{split}") for split, name in settings["qrels"].items()}
    qrels: dict[str, Qrels] = {}
    for split, path in files.items():
        if path.is_dir():
            raise UserError(f"{path} is a folder: name its files under qrels, such as qrels: {{test: qrels.txt}}")
        qrels[split] = read_qrels(path)
        if not qrels[split]:
            raise UserError(f"{path}: not one judged query")
    return Collection(None, {}, qrels)
