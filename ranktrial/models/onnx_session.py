"""What ONNX models share: a weights file, run on the CPU, and a tokenizer; no code of the model.

The checkpoint contains model.onnx and either tokenizer.json or a BERT vocabulary (vocab.txt). One that was exported by
ranktrial (see onnx_export) also states, in exported.json, what the graph does not contain.

The onnx package reads a file before onnxruntime loads it, for its validity and the precision of its weights.
onnxruntime also quantises files, and runs those that were not exported by ranktrial.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.models.instructions import WHOLE_SUMS, has
from ranktrial.models.model_files import read_object

if TYPE_CHECKING:
    import onnx


# Keys are the numbers of onnx.TensorProto.DataType.
PRECISIONS = {1: "fp32", 2: "int8", 3: "int8", 10: "fp16", 11: "fp64", 16: "bf16", 17: "fp8", 21: "int4", 22: "int4"}


def read_onnx(file: Path) -> onnx.ModelProto:
    """The model in a file, without external weights. Raises UserError unless it has a graph and operators."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        model = ModelProto.FromString(file.read_bytes())
    except DecodeError:
        model = ModelProto()
    if not model.HasField("graph") or not model.opset_import:
        raise UserError(f"{file}: not an ONNX file, or damaged")
    return model


def precision(file: Path) -> str:
    """The data type of most of a model's weights: fp32, fp16, int8 …; `unknown` if the file contains none."""
    sizes: Counter[str] = Counter()
    for tensor in read_onnx(file).graph.initializer:
        sizes[PRECISIONS.get(tensor.data_type, "unknown")] += prod(tensor.dims)
    return sizes.most_common(1)[0][0] if sizes else "unknown"


class Output(NamedTuple):
    """An output tensor of a graph; dynamic dimensions are not integers."""

    name: str
    shape: list


class Runtime:
    """A graph in onnxruntime: `inputs` (name -> type) and `outputs`; several threads may run it at once."""

    def __init__(self, file: Path, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4  # errors are raised
        if not has(WHOLE_SUMS):
            # Without VNNI, sums of int8 products saturate unless this is set, so scores would depend on the machine.
            # On other processors, it takes nearly twice the time for the same numbers.
            options.add_session_config_entry("session.x64quantprecision", "1")
        self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        types = {node.name: node.type for node in self.session.get_inputs()}
        self.inputs = {name: stated.removeprefix("tensor(").removesuffix(")") for name, stated in types.items()}
        self.outputs = [Output(node.name, node.shape) for node in self.session.get_outputs()]

    def run(self, outputs: list[str], given: dict[str, np.ndarray]) -> list[np.ndarray]:
        """The named outputs for the given inputs."""
        return self.session.run(outputs, given)


def open_graph(file: Path, threads: int | None = None) -> tuple[Runtime, int]:
    """A file's graph, and its number of threads: OMP_NUM_THREADS, or the number of cores.

    Raises UserError if it cannot be loaded.
    """
    threads = threads or int(os.environ.get("OMP_NUM_THREADS", 0))
    try:
        return Runtime(file, threads), threads or os.cpu_count() or 1
    except Exception as error:  # onnxruntime's own exceptions, which share no base class
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise UserError(f"{file}: cannot be loaded: {lines[0]}") from None


FILE, EXPORTED = "model.onnx", "exported.json"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")  # the inputs of a graph exported by ranktrial
TAKEN = (*INPUTS, "position_ids")  # the inputs that any graph may have; positions count from 0
TYPES = ("int64", "int32")
PADDING = ("[PAD]", "<pad>")
TRIED = ("a", "a few words of a text")  # of different lengths

Computed = TypeVar("Computed")


class OnnxSession:
    """A loaded ONNX file; `facts` are recorded with timings. Raises UserError if the checkpoint cannot be loaded."""

    def __init__(self, checkpoint: Path, max_length: int) -> None:
        self.file = checkpoint / FILE
        if not self.file.is_file():
            raise UserError(f"{checkpoint}: not a model for backend onnx, it has no {FILE}")
        self.exported = read_object(checkpoint / EXPORTED) if (checkpoint / EXPORTED).is_file() else {}
        self.graph, self.threads = open_graph(self.file)
        self.outputs = self.graph.outputs
        self.tokenizer = load_tokenizer(checkpoint, max_length)
        self.facts = {"precision": precision(self.file), "device": "cpu", "threads": self.threads}
        self._check_inputs()
        self.tried = self._try()

    def _check_inputs(self) -> None:
        """Raise UserError for a graph with an unknown input, without a required one, or with inputs of another type."""
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
        """The shape of the first output for two texts, one of which has the highest token id of the vocabulary.

        Raises UserError if the graph cannot process them: it has fixed numbers of texts or tokens, or a smaller
        vocabulary.
        """
        features = self.features(TRIED)
        features["input_ids"][0, 0] = max(self.tokenizer.get_vocab(with_added_tokens=False).values(), default=0)
        try:
            self.compute({name: array[:1] for name, array in features.items()})
            return self.compute(features).shape
        except Exception as error:  # onnxruntime's own exceptions, which share no base class
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise UserError(f"{self.file}: computes no texts of its tokenizer: {lines[0][:300]}") from None

    def features(self, texts: Sequence, tokenizer: Any = None) -> dict[str, np.ndarray]:
        """All inputs a graph may have, for a batch of texts or pairs: int64 of shape (texts, tokens)."""
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
        """The same graph with one thread, so that several threads can compute batches at once."""
        return open_graph(self.file, threads=1)[0]

    def compute(self, features: dict[str, np.ndarray], output: str | None = None, by: Runtime | None = None) -> Any:
        """An output (the first, unless named) for the given features: an array with one row per text."""
        given = {name: features[name].astype(stated, copy=False) for name, stated in self.graph.inputs.items()}
        return (by or self.graph).run([output or self.outputs[0].name], given)[0]

    def run(
        self, texts: Sequence, output: str | None = None, by: Runtime | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """An output for a batch of texts or pairs, and its attention mask: int64 of shape (texts, tokens)."""
        features = self.features(texts)
        return self.compute(features, output, by), features["attention_mask"]

    def each(self, batched: list[list], step: Callable[[list, Runtime], Computed]) -> Iterator[Computed]:
        """Yield the results of `step` for each batch and a graph, in order.

        If there are many batches, each runs in a thread of its own, since threads that share a batch wait for each
        other.
        """
        if self.threads == 1 or len(batched) < 2 * self.threads:
            yield from (step(texts, self.graph) for texts in batched)
            return
        waiting: deque[Future[Computed]] = deque()
        with ThreadPoolExecutor(self.threads) as pool:
            for texts in batched:
                waiting.append(pool.submit(step, texts, self.narrow))
                if len(waiting) > 2 * self.threads:  # so that outputs do not accumulate
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def run_each(self, batched: list[list], output: str | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the result of `run` for each batch, in order."""
        return self.each(batched, lambda texts, graph: self.run(texts, output, graph))

    def described(self) -> str:
        """The outputs with their shapes, as text."""
        return ", ".join(f"{output.name} {output.shape}" for output in self.outputs)


def batches(lengths: list[int], batch_size: int) -> Iterator[list[int]]:
    """Yield the indices of texts of these lengths, one batch at a time.

    Long texts come first: texts of similar length share a batch, and a batch that is too large fails at once.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    for first in range(0, len(order), batch_size):
        yield order[first : first + batch_size]


def load_tokenizer(checkpoint: Path, max_length: int) -> Any:
    """The tokenizer of a checkpoint; it truncates texts or pairs to `max_length` tokens and pads to the longest.

    Raises UserError if there is none, or if its tokenizer.json is damaged.
    """
    from tokenizers import Tokenizer

    file, vocabulary = checkpoint / "tokenizer.json", checkpoint / "vocab.txt"
    if file.is_file():
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library has no exception class of its own
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
    tokenizer.enable_truncation(max_length, strategy="longest_first", direction=truncation_side(checkpoint, tokenizer))
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id(pad), pad_token=pad)
    return tokenizer


def truncation_side(checkpoint: Path, tokenizer: Any) -> str:
    """The side from which texts are truncated: left if tokenizer_config.json or the tokenizer itself says so."""
    file = checkpoint / "tokenizer_config.json"
    stated = read_object(file).get("truncation_side") if file.is_file() else None
    side = stated or (tokenizer.truncation or {}).get("direction")
    return "left" if str(side).lower() == "left" else "right"


def stated_padding(checkpoint: Path) -> list[str]:
    """The padding token and, as a substitute, the end-of-text token that tokenizer_config.json names."""
    file = checkpoint / "tokenizer_config.json"
    stated = read_object(file) if file.is_file() else {}
    tokens = [stated.get(key) for key in ("pad_token", "eos_token")]
    tokens = [token.get("content") if isinstance(token, dict) else token for token in tokens]
    return [token for token in tokens if isinstance(token, str)]


def bert_tokenizer(checkpoint: Path) -> Any:
    """BERT's WordPiece tokenizer from a vocab.txt.

    It lowercases texts as tokenizer_config.json states or, failing that, if no word of the vocabulary has an upper-case
    letter.
    """
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    words = (checkpoint / "vocab.txt").read_text(encoding="utf-8").splitlines()
    configuration = checkpoint / "tokenizer_config.json"
    lower = read_object(configuration).get("do_lower_case") if configuration.is_file() else None
    if lower is None:
        lower = all(word == word.lower() for word in words if not word.startswith("["))
    made = BertWordPieceTokenizer({word: n for n, word in enumerate(words)}, lowercase=lower)
    return Tokenizer.from_str(made.to_str())
