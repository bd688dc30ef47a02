"""A cross-encoder in ONNX (see onnx_session).

A model with dynamic int8 quantisation scales each batch as a whole, so a pair's score depends slightly on its batch: by
up to half a logit with ms-marco-MiniLM-L-12-v2. Batches of one pair avoid this. A checkpoint exported by ranktrial may
have a prompt, which is put before the query.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.models.labels import one_score, relevance
from ranktrial.models.onnx_session import OnnxSession, batches
from ranktrial.models.running import finite


class OnnxCrossEncoder:
    """Keeps `max_length` tokens of a pair, truncating the longer text first, as sentence-transformers does.

    Raises UserError if the checkpoint cannot be loaded or its model does not give one score per pair.
    """

    def __init__(self, checkpoint: Path, max_length: int) -> None:
        self.session = OnnxSession(checkpoint, max_length)
        self.tokenizer, self.facts = self.session.tokenizer, self.session.facts
        self.prompts: dict[str, str] = self.session.exported.get("prompts", {})
        if len(self.session.outputs) != 1 or len(self.session.tried) != 2:
            expected = "expected a cross-encoder with one score per pair, or one per label; its outputs are"
            raise UserError(f"{self.session.file}: {expected} {self.session.described()}")
        self.relevance = relevance(checkpoint, self.session.tried[1], {})
        if self.relevance:
            self.facts["score"] = self.relevance.as_text()

    def score(self, pairs: list[tuple[str, str]], batch_size: int) -> np.ndarray:
        """The logits of text pairs: float32 of shape (pairs,), all finite."""
        prompt = self.prompts.get("query", "")
        pairs = [(prompt + query, document) for query, document in pairs] if prompt else pairs
        scores = np.empty(len(pairs), dtype=np.float32)
        parts = list(batches([len(query) + len(document) for query, document in pairs], batch_size))
        outputs = self.session.run_each([[pairs[row] for row in rows] for rows in parts])
        for rows, (logits, _) in zip(parts, outputs, strict=True):
            scores[rows] = one_score(logits, self.relevance)
        return finite(scores)
