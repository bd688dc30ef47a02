"""A bi-encoder in ONNX (see onnx_session): one vector per text, of unit length, compared by cosine.

If a file returns one vector per token, `pooling.json` of the checkpoint states how they are pooled: `cls` takes the
first token's vector, `mean` the mean over all tokens except padding. With `none`, the file returns one vector per text.
A checkpoint exported by ranktrial has the model's prompts, and if the model compares by dot product, its vectors are
not normalised. A model with dynamic int8 quantisation scales each batch as a whole, so a text's vector depends slightly
on its batch.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.models.adapters import Role
from ranktrial.models.model_files import read_object
from ranktrial.models.onnx_session import OnnxSession, batches
from ranktrial.models.running import finite
from ranktrial.models.truncation import check_dimensions

POOLING, POOLINGS = "pooling.json", ("cls", "mean", "none")
DIMENSIONS = {"cls": 3, "mean": 3, "none": 2}  # rank of the output: (texts, tokens, width) or (texts, width)


def write_pooling(checkpoint: Path, pooling: str) -> None:
    """Record beside an ONNX file how its token vectors are pooled."""
    write_json(checkpoint / POOLING, {"pooling": pooling})


class OnnxBiEncoder:
    """Keeps `max_length` tokens of a text. `prompts`, by role, are put before it; an external file stores none.

    Raises UserError if the checkpoint cannot be loaded or its model does not return what the pooling needs.
    """

    def __init__(self, checkpoint: Path, max_length: int) -> None:
        self.session = OnnxSession(checkpoint, max_length)
        self.tokenizer, self.facts = self.session.tokenizer, self.session.facts
        self.truncate_dim: int | None = None
        self.prompts = {"query": "", "document": "", **self.session.exported.get("prompts", {})}
        self.similarity = self.session.exported.get("similarity", "cosine")
        self.pooling = read_object(checkpoint / POOLING).get("pooling")
        if self.pooling not in POOLINGS:
            raise UserError(f"{checkpoint / POOLING}: pooling is {self.pooling!r}; expected {', '.join(POOLINGS)}")
        fitting = [node.name for node in self.session.outputs if len(node.shape) == DIMENSIONS[self.pooling]]
        if not fitting:
            each = "text" if self.pooling == "none" else "token"
            problem = f"pooling {self.pooling} needs one vector per {each}, its outputs are {self.session.described()}"
            raise UserError(f"{self.session.file}: {problem}")
        self.output = fitting[0]

    def encode(self, texts: list[str], batch_size: int, role: Role) -> np.ndarray:
        """The texts' vectors, with the role's prompt: float32 of shape (texts, width), all finite.

        They have unit length, unless the model's similarity is the dot product.
        """
        prompted = [self.prompts[role] + text for text in texts]
        made: list[np.ndarray | None] = [None] * len(texts)
        parts = list(batches([len(text) for text in prompted], batch_size))
        outputs = self.session.run_each([[prompted[row] for row in rows] for rows in parts], self.output)
        for rows, (output, mask) in zip(parts, outputs, strict=True):
            for row, vector in zip(rows, self._pooled(output, mask), strict=True):
                made[row] = vector
        vectors = finite(np.asarray(made, dtype=np.float32))
        if self.truncate_dim:
            check_dimensions(self.truncate_dim, vectors.shape[1])
            vectors = vectors[:, : self.truncate_dim]
        if self.similarity == "dot":
            return vectors
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))

    def _pooled(self, output: np.ndarray, mask: np.ndarray) -> np.ndarray:
        if self.pooling == "none":
            return output
        if self.pooling == "cls":
            return output[:, 0]
        kept = mask[:, :, None].astype(np.float32)
        return (output * kept).sum(axis=1) / np.maximum(kept.sum(axis=1), np.float32(1e-9))
