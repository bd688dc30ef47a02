"""A sparse encoder in ONNX (see onnx_session): sparse vectors of term weights, compared by dot product.

Only checkpoints exported by ranktrial are accepted: their graph returns one weight per text and term, and
`exported.json` contains the model's prompts. A model with dynamic int8 quantisation scales each batch as a whole, so a
text's weights depend slightly on its batch.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse

from ranktrial.common.errors import UserError
from ranktrial.models.adapters import Role
from ranktrial.models.onnx_session import EXPORTED, OnnxSession, batches
from ranktrial.models.running import finite


class OnnxSparseEncoder:
    """Keeps `max_length` tokens of a text. `prompts`, by role, are put before it.

    Raises UserError if the checkpoint cannot be loaded, or was not exported by ranktrial from a sparse encoder.
    """

    def __init__(self, checkpoint: Path, max_length: int) -> None:
        self.session = OnnxSession(checkpoint, max_length)
        self.tokenizer, self.facts = self.session.tokenizer, self.session.facts
        self.prompts = {"query": "", "document": "", **self.session.exported.get("prompts", {})}
        (output, *others) = self.session.outputs
        if others or len(output.shape) != 2 or not self.session.exported.get("terms"):
            problem = f"not a sparse encoder that was exported here ({EXPORTED}): its outputs are"
            raise UserError(f"{self.session.file}: {problem} {self.session.described()}")

    def encode(self, texts: list[str], batch_size: int, role: Role) -> scipy.sparse.csr_array:
        """The texts' term weights, with the role's prompt: float32 of shape (texts, terms), all finite."""
        prompted = [self.prompts[role] + text for text in texts]
        made: list[scipy.sparse.csr_array] = []
        order: list[int] = []
        parts = list(batches([len(text) for text in prompted], batch_size))
        outputs = self.session.run_each([[prompted[row] for row in rows] for rows in parts])
        for rows, (weights, _) in zip(parts, outputs, strict=True):
            made.append(scipy.sparse.csr_array(finite(weights)))
            order += rows
        return scipy.sparse.vstack(made, format="csr")[np.argsort(order)]
