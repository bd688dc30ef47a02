"""A multi-vector model in ONNX (see onnx_session): one vector per token, of which those that count are kept.

Only checkpoints exported by ranktrial are accepted: their graph returns each token's vector, and `exported.json` states
which tokens count, as in the library's MultiVectorMask. `skipped` are the tokens, by role, that are left out; `kept`,
if given, are the only tokens that count in a document. `expansion` is ColBERT's query expansion: shorter queries are
filled up to a length with a token (`[MASK]`) whose vectors count, whether the model attends to them or not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.models.adapters import Role
from ranktrial.models.onnx_session import EXPORTED, OnnxSession, Runtime, batches, load_tokenizer


class OnnxMultiVectorEncoder:
    """Keeps `max_length` tokens of a text. `prompts`, by role, are put before it.

    Raises UserError if the checkpoint cannot be loaded, or was not exported by ranktrial from a multi-vector model.
    """

    def __init__(self, checkpoint: Path, max_length: int) -> None:
        self.session = OnnxSession(checkpoint, max_length)
        self.tokenizer, self.facts = self.session.tokenizer, self.session.facts
        record = self.session.exported
        self.prompts = {"query": "", "document": "", **record.get("prompts", {})}
        (output, *others) = self.session.outputs
        if others or len(output.shape) != 3 or not isinstance(record.get("skipped"), dict):
            problem = f"not a multi-vector model that was exported here ({EXPORTED}): its outputs are"
            raise UserError(f"{self.session.file}: {problem} {self.session.described()}")
        self.similarity_fn_name: str = record["similarity"]
        self.skipped: dict[str, list[int]] = record["skipped"]
        self.kept: list[int] | None = record["kept"]
        self.expansion: dict[str, Any] | None = record["expansion"]
        fixed = self.expansion is not None and self.expansion["strategy"] == "fixed"
        self.of_queries = load_tokenizer(checkpoint, self.expansion["length"]) if fixed else self.tokenizer

    def encode(self, texts: list[str], batch_size: int, role: Role) -> list[np.ndarray]:
        """For each text, with the role's prompt, the vectors that count: float32 of shape (tokens, dimensions)."""
        prompted = [self.prompts[role] + text for text in texts]
        made: dict[int, np.ndarray] = {}
        parts = list(batches([len(text) for text in prompted], batch_size))

        def step(texts: list[str], graph: Runtime) -> tuple[np.ndarray, np.ndarray]:
            features, counted = self._features(texts, role)
            return self.session.compute(features, by=graph).astype(np.float32, copy=False), counted

        outputs = self.session.each([[prompted[row] for row in rows] for rows in parts], step)
        for rows, (vectors, counted) in zip(parts, outputs, strict=True):
            made |= {row: vectors[place, counted[place]] for place, row in enumerate(rows)}
        return [made[row] for row in range(len(texts))]

    def _features(self, texts: list[str], role: Role) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The inputs of the graph, and which tokens count: bool of shape (texts, tokens)."""
        features = self.session.features(texts, self.of_queries if role == "query" else self.tokenizer)
        counted = features["attention_mask"] == 1
        if role == "query" and self.expansion is not None:
            features, counted = expanded(features, **self.expansion)
        counted &= ~np.isin(features["input_ids"], self.skipped.get(role, []))
        if role == "document" and self.kept:
            counted &= np.isin(features["input_ids"], self.kept)
        return features, counted


def expanded(
    features: dict[str, np.ndarray], strategy: str, length: int, token: int, attend: bool
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Fill queries up to a length with a token, as the library's Transformer.preprocess does; also return the mask.

    The mask states which tokens count. The strategy `fixed` differs from `min` only in that longer queries are
    truncated, which the tokenizer does beforehand.
    """
    missing = max(0, length - features["input_ids"].shape[1])
    features = {name: np.pad(array, ((0, 0), (0, missing))) for name, array in features.items()}
    real = features["attention_mask"] == 1
    filled = ~real & (np.arange(real.shape[1]) < length)
    features["input_ids"][filled] = token
    if attend:
        features["attention_mask"][filled] = 1
    return features, real | filled
