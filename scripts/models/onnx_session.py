"""What models in ONNX share: a file of weights, run on the processor (see onnx_runtimes), and a tokenizer; no code.

The checkpoint holds model.onnx and either tokenizer.json or a BERT vocabulary (vocab.txt). One that was exported here
(see onnx_export) also says, in exported.json, what of the model is not in the graph, and by what it is run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from scripts.common.errors import UserError
from scripts.models.model_files import read_object
from scripts.models.onnx_file import precision
from scripts.models.onnx_runtimes import Runtime, open_graph

FILE, EXPORTED = "model.onnx", "exported.json"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")  # what a graph that is exported here takes
TAKEN = (*INPUTS, "position_ids")  # what any graph may take; positions count from 0
TYPES = ("int64", "int32")
PADDING = ("[PAD]", "<pad>")
TRIED = ("a", "a few words of a text")  # of different lengths

Computed = TypeVar("Computed")


class OnnxSession:
    """A loaded file; `facts` are what timings say of it. Raises UserError where the checkpoint cannot be loaded."""

    def __init__(self, checkpoint: Path, max_length: int) -> None:
        self.file = checkpoint / FILE
        if not self.file.is_file():
            raise UserError(f"{checkpoint}: not a model for backend onnx, it has no {FILE}")
        self.exported = read_object(checkpoint / EXPORTED) if (checkpoint / EXPORTED).is_file() else {}
        self.backend = self.exported.get("backend", "onnx")
        self.graph, self.threads = open_graph(self.file, self.backend)
        self.outputs = self.graph.outputs
        self.tokenizer = load_tokenizer(checkpoint, max_length)
        self.facts = {"precision": precision(self.file), "device": "cpu", "threads": self.threads}
        self._check_inputs()
        self.tried = self._try()

    def _check_inputs(self) -> None:
        """Raise UserError for a graph that takes what is not given, lacks what it needs, or takes another type."""
        if unknown := [name for name in self.graph.inputs if name not in TAKEN]:
            raise UserError(f"{self.file}: the graph takes {', '.join(unknown)[:200]}; given are {', '.join(TAKEN)}")
        if "input_ids" not in self.graph.inputs:
            raise UserError(f"{self.file}: the graph takes no input_ids, so nothing of a text")
        if "attention_mask" not in self.graph.inputs:
            problem = "the graph takes no attention_mask, so padding would count as part of a text"
            raise UserError(f"{self.file}: {problem}; export it with one")
        for name, stated in self.graph.inputs.items():
            if stated not in TYPES:
                raise UserError(f"{self.file}: the graph takes {name} as {stated}; given are {' or '.join(TYPES)}")

    def _try(self) -> tuple[int, ...]:
        """The shape of the first output for two texts, one with the last token that there is.

        Raises UserError where the graph cannot take them: it has fixed numbers of texts or tokens, or fewer tokens.
        """
        features = self.features(TRIED)
        features["input_ids"][0, 0] = max(self.tokenizer.get_vocab(with_added_tokens=False).values(), default=0)
        try:
            self.compute({name: array[:1] for name, array in features.items()})
            return self.compute(features).shape
        except Exception as error:  # the runtimes' own exceptions, which share no base
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise UserError(f"{self.file}: computes no texts of its tokenizer: {lines[0][:300]}") from None

    def features(self, texts: Sequence, tokenizer: Any = None) -> dict[str, np.ndarray]:
        """What a graph may take of a batch of texts or pairs (by another tokenizer): int64 of shape (texts, tokens)."""
        encodings = (tokenizer or self.tokenizer).encode_batch(texts)
        features = {
            "input_ids": [encoding.ids for encoding in encodings],
            "attention_mask": [encoding.attention_mask for encoding in encodings],
            "token_type_ids": [encoding.type_ids for encoding in encodings],
        }
        if "position_ids" in self.graph.inputs:
            features["position_ids"] = [list(range(len(encoding.ids))) for encoding in encodings]
        return {name: np.array(values, dtype=np.int64) for name, values in features.items()}

    @cached_property
    def narrow(self) -> Runtime:
        """The same graph for one thread, of which several compute at a time."""
        return open_graph(self.file, self.backend, threads=1)[0]

    def compute(self, features: dict[str, np.ndarray], output: str | None = None, by: Runtime | None = None) -> Any:
        """An output (the first, unless named) for the features that the graph takes: an array with one row per text."""
        given = {name: features[name].astype(stated, copy=False) for name, stated in self.graph.inputs.items()}
        return (by or self.graph).run([output or self.outputs[0].name], given)[0]

    def run(
        self, texts: Sequence, output: str | None = None, by: Runtime | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same for a batch of texts or pairs, and its attention mask: int64 of shape (texts, tokens)."""
        features = self.features(texts)
        return self.compute(features, output, by), features["attention_mask"]

    def each(self, batched: list[list], step: Callable[[list, Runtime], Computed]) -> Iterator[Computed]:
        """What `step` makes of each batch and a graph, in order.

        Where there are many, each passes in a thread of its own: threads that share a batch wait for each other.
        """
        if self.threads == 1 or len(batched) < 2 * self.threads or not self.graph.CONCURRENT:
            yield from (step(texts, self.graph) for texts in batched)
            return
        waiting: deque[Future[Computed]] = deque()
        with ThreadPoolExecutor(self.threads) as pool:
            for texts in batched:
                waiting.append(pool.submit(step, texts, self.narrow))
                if len(waiting) > 2 * self.threads:  # so that outputs do not gather
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def run_each(self, batched: list[list], output: str | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """`run` of each batch, in order."""
        return self.each(batched, lambda texts, graph: self.run(texts, output, graph))

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
    named = [*PADDING, (tokenizer.padding or {}).get("pad_token"), *stated_padding(checkpoint)]
    pad = next((token for token in named if token and tokenizer.token_to_id(token) is not None), None)
    if pad is None:
        problem = f"no token for padding ({' or '.join(PADDING)}), nor one for the end of a text"
        raise UserError(f"{checkpoint}: its tokenizer has {problem} in tokenizer_config.json")
    tokenizer.enable_truncation(max_length, strategy="longest_first")
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id(pad), pad_token=pad)
    return tokenizer


def stated_padding(checkpoint: Path) -> list[str]:
    """The tokens for padding and, in its place, for the end of a text that tokenizer_config.json names."""
    file = checkpoint / "tokenizer_config.json"
    stated = read_object(file) if file.is_file() else {}
    tokens = [stated.get(key) for key in ("pad_token", "eos_token")]
    tokens = [token.get("content") if isinstance(token, dict) else token for token in tokens]
    return [token for token in tokens if isinstance(token, str)]


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
