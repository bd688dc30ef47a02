"""The texts of queries and candidates, as preprocessed by the readers of features.

The prepared corpus is read line by line, and only candidates are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.experiment.sections.features import FeatureColumn
from ranktrial.features.families import Feature, TextReader, features_in
from ranktrial.ir.collection import read_texts


def text_features(of: list[FeatureColumn]) -> dict[str, Feature]:
    """The text features among the entries of a feature set, by column."""
    own = [entry for entry in of if not entry.system]
    found = {entry.name: features_in(entry.family)[entry.feature] for entry in own}
    return {name: feature for name, feature in found.items() if feature.reader}


class Texts:
    """The inputs of text features; empty if there are none."""

    def __init__(self, features: dict[str, Feature], paths: list[Path], structures: Path | None) -> None:
        """`paths` are the files of the queries and the corpus, `structures` that of a model's labels.

        Raises UserError if a feature needs texts and none are given.
        """
        if features and len(paths) != 2:
            raise UserError(f"--texts: expected the files of queries and corpus, which {next(iter(features))} needs")
        self.features, self.paths, self.structures = features, paths, structures
        self.made: dict[TextReader, Any] = {}

    def read(self, candidates: dict[str, list[str]]) -> None:
        """Read the texts of queries and their candidates. Raises UserError if a query has none."""
        if not self.features:
            return
        queries, corpus = self.paths
        wanted = frozenset(document for documents in candidates.values() for document in documents)
        texts = {name: text for name, text in read_texts(queries) if name in candidates}
        if lacking := [query for query in candidates if query not in texts]:
            raise UserError(f"{queries}: has no text of query {lacking[0]}")
        for reader in dict.fromkeys(feature.reader for feature in self.features.values() if feature.reader):
            self.made[reader] = reader(texts, _only(corpus, wanted), self.structures)

    def values(self, queries: list[str], documents: list[str]) -> dict[str, np.ndarray]:
        """The features of pairs, by column."""
        return {
            name: feature.function(self.made[feature.reader], queries, documents)
            for name, feature in self.features.items()
            if feature.reader
        }


def _only(corpus: Path, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in read_texts(corpus) if name in wanted)
