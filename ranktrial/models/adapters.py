"""Adapters: the interface of a model type. Each is one module in ranktrial/models/types/, found by its NAME.

A configuration's models name it as `type`. All other code asks the adapter which loss fits, how weights are
loaded, how texts become vectors, and how pairs are scored. Planning the workflow imports the adapters, so a module in
types/ imports torch, its libraries and whatever needs them only inside its functions.

A type that searches encodes each text once, into one vector, and compares texts by dot product: it can rank a whole
corpus by itself, or re-rank. If its index has another form, it states so in INDEX; each form has a module that writes
and one that searches (see ranktrial/inference/indices). Any other type scores pairs: it re-ranks, or scores every pair.
Types that tag or write rank nothing: they label the words of a text for features, or write queries.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np

from ranktrial.common import plugins
from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.models.batch_sizes import CHUNK

MODEL_TYPES = "ranktrial.models.types"

Role = Literal["query", "document"]  # for models that encode queries and documents differently
Spans = list[tuple[str, str]]  # the spans of a text, in order: label and words
TextPair = tuple[str, str]  # a query (or a passage of it), a document (or a passage of it)
PromptsOfColumns = Callable[[Any, list[str]], dict[str, str] | str | None]  # (model, columns) -> prompts


class Training(NamedTuple):
    """What trains a model type: the trainer and its arguments (classes of sentence-transformers), and the losses.

    `loss` creates the named loss for a model, with the margin, the regularizer weights, or the temperature and scale of
    a loss with a teacher, if these are given. `outputs` are the model outputs that the losses use. `head` returns the
    parameters of a model's prediction head, if such models have one. `prompts` returns the `prompts` of the training
    arguments for a model and the columns of a training set.
    """

    trainer: type
    arguments: type
    loss: Callable[..., Any]
    outputs: tuple[str, ...]
    head: Callable[[Any], list[Any]] | None = None
    prompts: PromptsOfColumns | None = None


class Scorer(NamedTuple):
    """`score` returns the logits of text pairs, float32 of shape (pairs,); `facts` are recorded with timings.

    `tokenizer` is the model's tokenizer, if it comes from the tokenizers library. `prompts` are the prompts that it
    adds. `chunk` is the number of pairs in a unit that shards share out. `at_once` is the number to pass at a time:
    they are sorted by length among themselves to reduce padding.
    """

    score: Callable[[list[TextPair]], np.ndarray]
    facts: JsonObject
    tokenizer: Any = None
    prompts: dict[str, str] | None = None
    chunk: int = CHUNK
    at_once: int = CHUNK


class WordTagger(Protocol):
    """A loaded model that labels words; `labels` are the labels that it knows."""

    labels: frozenset[str]

    def tag(self, texts: list[str]) -> list[Spans]:
        """The labelled spans of each text."""


class Writer(Protocol):
    """A loaded model that writes queries; `facts` are recorded with the queries written."""

    facts: JsonObject

    def write(self, prompt: str, documents: list[str], seed: int) -> list[str]:
        """One query per document, from a prompt that contains {document}."""


class Adapter(Protocol):
    """A model type.

    If it searches, it has `encode`; if it states TAGS, `load_tagger`; if it states WRITES, `load_writer`; otherwise
    `load_scorer`.

    A type that cannot be trained has an empty LOSSES and needs no default losses, `warm_up` or `training`. Without
    `DISTILLED` and `DEFAULT_DISTILLED`, it cannot learn from a teacher. Without `HAS_HEAD`, `MARGINS` or `tokenizer`,
    it accepts no learning rate of a head, no margin, or no lengths of queries and documents, respectively. Without
    `give_prompts`, it accepts no prompts from a configuration; without `prompts`, it stores none either. PROMPTED names
    the roles that have a prompt, if these are not both. Without `facts`, it computes with torch. Without `truncate`, it
    has no vectors to truncate. MATRYOSHKA states that its losses can cover several dimensions at once.
    """

    NAME: str  # a model's `type`
    LOADED_BY: str  # the class of sentence-transformers that loads a checkpoint; without it, none is published
    PIPELINE_TAG: str  # its task on the Hugging Face hub
    SEARCHES: bool  # whether it encodes each text separately, once, and so can search a corpus by itself
    INDEX: str  # the form of its index if not "vectors" (one per text): "token-vectors" or "terms"
    BACKENDS: tuple[str, ...]  # the backends for inference, of torch and onnx
    REMOTE: bool  # whether the model is served elsewhere: it has an `endpoint` and no weights here; default no
    EXPORTS: bool  # whether torch checkpoints can be converted to ONNX, by `exportable`; default no
    PROMPTED: tuple[Role, ...]  # the roles whose texts get a prompt
    BY_TOKENS: bool  # whether batches can be sized by tokens instead of texts (see token_batches); default no
    Keys: type  # the dataclass of additional keys of its models, if any (see keys.py)
    DESCRIPTION: str  # its text in the schema: how it ranks, and to what max_length applies
    LOSSES: dict[str, str]  # its losses -> the shape of the examples of each (see losses.py)
    DISTILLED: dict[str, str]  # its losses with a teacher -> the shape of the examples of each (see teaching.py)
    MARGINS: dict[str, str]  # the losses with a margin -> the library's name of the margin
    REGULARIZED: tuple[str, ...]  # the losses with regularizers for documents and queries, if any
    HAS_HEAD: bool  # whether a prediction head, which may have its own learning rate, follows the encoder
    DEFAULT_LOSS: str
    DEFAULT_LOSS_OF_PASSAGES: str  # if texts are split into passages: one that takes labelled pairs, if there is one
    DEFAULT_DISTILLED: str  # with a teacher

    def load(self, folder: Path, max_length: int, to_train: bool = False) -> Any:
        """Load a model; one loaded `to_train` may lack what training adds, initialised from torch's random state.

        Everything else that it computes with must be in its files (see loading.load).
        """

    def tokenizer(self, model: Any) -> Any:
        """A model's tokenizer, if it comes from the tokenizers library; otherwise None."""

    def prompts(self, model: Any) -> dict[str, str]:
        """The prompts that a model puts before queries and documents, by role; "" or no entry means no prompt."""

    def give_prompts(self, model: Any, prompts: dict[str, str]) -> None:
        """Set the prompts that a model puts before texts, by role; they are stored when the model is saved."""

    def facts(self, model: Any) -> dict[str, Any]:
        """What timings record about how a model computes: its precision, and facts of backends other than torch."""

    def truncate(self, model: Any, dimensions: int) -> Callable[[np.ndarray], np.ndarray]:
        """Truncate a model's vectors to their first dimensions; return a function that truncates stored vectors."""

    def warm_up(self, model: Any, batch_size: int) -> None:
        """Pass one batch through a model that is about to be trained."""

    def training(self) -> Training:
        """The trainer and losses of such a model."""

    def encode(self, model: Any, texts: list[str], batch_size: int, role: Role) -> Any:
        """The texts' vectors: float32 of shape (texts, dimensions), all finite; the dot product is the similarity.

        For token vectors, a list of one array of shape (tokens, dimensions) per text; MaxSim is the similarity.
        """

    def load_scorer(
        self,
        folder: Path,
        max_length: int,
        batch_size: int,
        backend: str,
        batch_tokens: int | None = None,
        prompts: dict[str, str] | None = None,
    ) -> Scorer:
        """Load a model that scores pairs, in batches of `batch_size` pairs, or of `batch_tokens` tokens if given.

        A type with `give_prompts` uses these prompts instead of those that the model stores.
        """

    def scorer(self, model: Any, batch_size: int) -> Scorer:
        """A Scorer of pairs for a loaded model, for a type that can be evaluated during training."""

    def exportable(self, model: Any, folder: Path) -> Any:
        """The part of a loaded model to export (see onnx_export); files beside the graph are written to `folder`."""

    def load_writer(self, folder: Path, max_length: int, batch_size: int) -> Writer:
        """Load a model that writes queries."""

    def load_tagger(self, folder: Path, max_length: int, batch_size: int) -> WordTagger:
        """Load a model that labels words."""


def adapter(name: str) -> Adapter:
    """The adapter of a type. Raises UserError if there is none of this name."""
    try:
        return cast(Adapter, plugins.load(MODEL_TYPES, name))
    except ValueError as error:
        raise UserError(f"type: {error}") from None


def tags(name: str) -> bool:
    """Whether models of a type label words, and so do not rank."""
    return bool(getattr(adapter(name), "TAGS", False))


def writes(name: str) -> bool:
    """Whether models of a type write queries, and so do not rank."""
    return bool(getattr(adapter(name), "WRITES", False))


def behind_endpoint(name: str) -> bool:
    """Whether models of a type are served by an endpoint."""
    return bool(getattr(adapter(name), "REMOTE", False))


def exports(name: str) -> bool:
    """Whether checkpoints of a type can be converted to ONNX."""
    return bool(getattr(adapter(name), "EXPORTS", False))


def index_of(name: str) -> str:
    """The form of the index of a type: "vectors" (one per text) unless the type states another."""
    return str(getattr(adapter(name), "INDEX", "vectors"))


def adapters() -> dict[str, Adapter]:
    """The adapters of all kinds, by name."""
    return cast(dict[str, Adapter], plugins.load_all(MODEL_TYPES))
