"""The texts of the documents that the page shows; reads corpora, writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.experiment.results_paths import path
from ranktrial.ir.collection import read_corpus


class Shown(NamedTuple):
    """A document's title, the beginning of its text, and the full length."""

    title: str
    text: str
    length: int


def check_there(paths: Iterable[str], experiment: str) -> None:
    """Raise UserError for a file of texts that was deleted, with the command that makes it again."""
    command = f"snakemake --configfile {path('configuration', experiment=experiment)} --"
    for name in paths:
        if not Path(name).exists():
            raise UserError(
                f"{name}: this file of texts was deleted; run `{command} {name}` to make it again, or set explorer: "
                "{texts: false} to show only ids"
            )


def read(corpora: Iterable[str], wanted: Collection[str], characters: int) -> dict[str, Shown]:
    """The wanted documents by id, each cut after `characters` characters."""
    found: dict[str, Shown] = {}
    for corpus in corpora:
        for document in read_corpus(Path(corpus)):
            if document.id in wanted and document.id not in found:
                title, text = document.title[:characters], document.text[:characters]
                found[document.id] = Shown(title, text, len(document.text))
    return found
