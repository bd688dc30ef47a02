"""A cross-encoder in ONNX, run by onnxruntime on the processor: one file of weights and a tokenizer, no code.

The checkpoint holds model.onnx and either tokenizer.json or a BERT vocabulary (vocab.txt). A model that is quantised as
it runs (dynamic int8) scales each batch as a whole, so a pair's score depends a little on its batch: by up to half a
logit with ms-marco-MiniLM-L-12-v2. Batches of one pair are free of that.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from scripts.common.errors import UserError
from scripts.models.model_files import read_object
from scripts.models.onnx_file import precision
from scripts.models.running import finite

PADDING = ("[PAD]", "<pad>")


class OnnxCrossEncoder:
    """Keeps `max_length` tokens of a pair, cutting the longer text first, as sentence-transformers does.

    Raises UserError where the checkpoint cannot be loaded or its model does not give one score a pair.
    """

    def __init__(self, checkpoint: Path, max_length: int) -> None:
        import onnxruntime

        file = checkpoint / "model.onnx"
        if not file.is_file():
            raise UserError(f"{checkpoint}: not a model for backend onnx, it has no {file.name}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", 0))  # 0: as many as there are cores
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own exceptions, which share no base
            raise UserError(f"{file}: cannot be loaded: {str(error).strip().splitlines()[0]}") from None
        outputs = self.session.get_outputs()
        if len(outputs) != 1 or len(outputs[0].shape) != 2 or outputs[0].shape[1] != 1:
            shapes = ", ".join(f"{output.name} {output.shape}" for output in outputs)
            raise UserError(f"{file}: expected a cross-encoder with one score per pair, its outputs are {shapes}")
        self.inputs = {node.name for node in self.session.get_inputs()}
        self.tokenizer = load_tokenizer(checkpoint, max_length)
        self.facts = {
            "precision": precision(file),
            "device": "cpu",
            "threads": options.intra_op_num_threads or os.cpu_count(),
        }

    def score(self, pairs: list[tuple[str, str]], batch_size: int) -> np.ndarray:
        """The logits of pairs of texts: float32 of shape (pairs,), all finite."""
        # Long ones first: texts of like length share a batch, and too large a batch shows at once.
        order = sorted(range(len(pairs)), key=lambda n: -len(pairs[n][0]) - len(pairs[n][1]))
        scores = np.empty(len(pairs), dtype=np.float32)
        for first in range(0, len(order), batch_size):
            rows = order[first : first + batch_size]
            scores[rows] = self._batch([pairs[n] for n in rows])
        return finite(scores)

    def _batch(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        encodings = self.tokenizer.encode_batch(pairs)
        features = {
            "input_ids": [encoding.ids for encoding in encodings],
            "attention_mask": [encoding.attention_mask for encoding in encodings],
            "token_type_ids": [encoding.type_ids for encoding in encodings],
        }
        arrays = {name: np.array(values, dtype=np.int64) for name, values in features.items() if name in self.inputs}
        return self.session.run(None, arrays)[0][:, 0]


def load_tokenizer(checkpoint: Path, max_length: int):
    """The tokenizer of a checkpoint, which cuts pairs to `max_length` tokens and pads batches to their longest.

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
        raise UserError(f"{checkpoint}: its tokenizer has no token for padding ({' or '.join(PADDING)})")
    tokenizer.enable_truncation(max_length, strategy="longest_first")
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id(pad), pad_token=pad)
    return tokenizer


def bert_tokenizer(checkpoint: Path):
    """BERT's WordPiece tokenizer of a vocab.txt; whether it lowers case is what tokenizer_config.json says, else
    whether no word of the vocabulary has an upper-case letter."""
    from tokenizers import BertWordPieceTokenizer

    words = (checkpoint / "vocab.txt").read_text(encoding="utf-8").splitlines()
    configuration = checkpoint / "tokenizer_config.json"
    lower = read_object(configuration).get("do_lower_case") if configuration.is_file() else None
    if lower is None:
        lower = all(word == word.lower() for word in words if not word.startswith("["))
    return BertWordPieceTokenizer({word: n for n, word in enumerate(words)}, lowercase=lower)
