"""What models in ONNX share: a file of weights, run on the processor (see onnx_runtimes), and a tokenizer; no code.

The checkpoint holds model.onnx and either tokenizer.json or a BERT vocabulary (vocab.txt). One that was exported here
(see onnx_export) also says, in exported.json, what of the model is not in the graph, and by what it is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scripts.common.errors import UserError
from scripts.models.model_files import read_object
from scripts.models.onnx_file import precision
from scripts.models.onnx_runtimes import open_graph

FILE, EXPORTED = "model.onnx", "exported.json"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")  # what a graph may take
PADDING = ("[PAD]", "<pad>")


class OnnxSession:
    """A loaded file; `facts` are what timings say of it. Raises UserError where the checkpoint cannot be loaded."""

    def __init__(self, checkpoint: Path, max_length: int) -> None:
        self.file = checkpoint / FILE
        if not self.file.is_file():
            raise UserError(f"{checkpoint}: not a model for backend onnx, it has no {FILE}")
        self.exported = read_object(checkpoint / EXPORTED) if (checkpoint / EXPORTED).is_file() else {}
        self.graph, threads = open_graph(self.file, self.exported.get("backend", "onnx"))
        self.outputs = self.graph.outputs
        self.tokenizer = load_tokenizer(checkpoint, max_length)
        self.facts = {"precision": precision(self.file), "device": "cpu", "threads": threads}

    def features(self, texts: Sequence, tokenizer: Any = None) -> dict[str, np.ndarray]:
        """What a graph may take of a batch of texts or pairs (by another tokenizer): int64 of shape (texts, tokens)."""
        encodings = (tokenizer or self.tokenizer).encode_batch(texts)
        features = {
            "input_ids": [encoding.ids for encoding in encodings],
            "attention_mask": [encoding.attention_mask for encoding in encodings],
            "token_type_ids": [encoding.type_ids for encoding in encodings],
        }
        return {name: np.array(values, dtype=np.int64) for name, values in features.items()}

    def compute(self, features: dict[str, np.ndarray], output: str | None = None) -> np.ndarray:
        """An output (the first, unless named) for the features that the graph takes."""
        given = {name: array for name, array in features.items() if name in self.graph.inputs}
        return self.graph.run([output or self.outputs[0].name], given)[0]

    def run(self, texts: Sequence, output: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The same for a batch of texts or pairs, and its attention mask: int64 of shape (texts, tokens)."""
        features = self.features(texts)
        return self.compute(features, output), features["attention_mask"]

    def described(self) -> str:
        """The outputs, each with its shape."""
        return ", ".join(f"{output.name} {output.shape}" for output in self.outputs)


def batches(lengths: list[int], batch_size: int) -> Iterator[list[int]]:
    """The places of texts of these lengths, a batch at a time.

    Long ones come first: texts of like length share a batch, and too large a batch shows at once.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    for first in range(0, len(order), batch_size):
        yield order[first : first + batch_size]


def load_tokenizer(checkpoint: Path, max_length: int) -> Any:
    """The tokenizer of a checkpoint, which cuts texts or pairs to `max_length` tokens and pads batches to the longest.

    Raises UserError where there is none, or its tokenizer.json is damaged.
    """
    from tokenizers import Tokenizer

    file, vocabulary = checkpoint / "tokenizer.json", checkpoint / "vocab.txt"
    if file.is_file():
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises no kind of its own
            raise UserError(f"{file}: damaged tokenizer ({str(error).strip().splitlines()[0]})") from None
    elif vocabulary.is_file():
        tokenizer = bert_tokenizer(checkpoint)
    else:
        raise UserError(f"{checkpoint}: not a model for backend onnx, it has no tokenizer.json or vocab.txt")
    pad = next((token for token in PADDING if tokenizer.token_to_id(token) is not None), None)
    if pad is None:
        pad = (tokenizer.padding or {}).get("pad_token")
    if pad is None:
        raise UserError(f"{checkpoint}: its tokenizer has no token for padding ({' or '.join(PADDING)})")
    tokenizer.enable_truncation(max_length, strategy="longest_first")
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id(pad), pad_token=pad)
    return tokenizer


def bert_tokenizer(checkpoint: Path) -> Any:
    """BERT's WordPiece tokenizer of a vocab.txt; whether it lowers case is what tokenizer_config.json says, else
    whether no word of the vocabulary has an upper-case letter."""
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    words = (checkpoint / "vocab.txt").read_text(encoding="utf-8").splitlines()
    configuration = checkpoint / "tokenizer_config.json"
    lower = read_object(configuration).get("do_lower_case") if configuration.is_file() else None
    if lower is None:
        lower = all(word == word.lower() for word in words if not word.startswith("["))
    made = BertWordPieceTokenizer({word: n for n, word in enumerate(words)}, lowercase=lower)
    return Tokenizer.from_str(made.to_str())
