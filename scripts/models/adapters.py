"""What a kind of model is: an adapter, one module in scripts/models/kinds/, found by the name it states.

A configuration's models name their kind as `type`. Everything else asks the adapter: which loss fits, how weights are
loaded, how texts become vectors or pairs get scores. The workflow is planned with the adapters, so a module of kinds/
imports torch, its libraries and what needs them inside its functions only.

A kind that searches gives each text one vector, once, and texts are compared by dot product: it ranks a whole corpus
alone, or re-ranks. One whose index has another form says so in INDEX; a form is a module and a script of its own (see
scripts/inference/indices). Any other kind scores pairs of texts: it re-ranks, or scores every pair. But one that tags
ranks nothing: it labels the words of a text, for features.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np

from scripts.common import plugins
from scripts.common.errors import UserError
from scripts.common.keys import JsonObject
from scripts.models.batch_sizes import CHUNK

KINDS = "scripts.models.kinds"

Role = Literal["query", "document"]  # for models that treat them differently
Spans = list[tuple[str, str]]  # of a text, in order: a label and the words that have it
TextPair = tuple[str, str]  # a query (or a passage of it), a document (or a passage of it)
PromptsOfColumns = Callable[[Any, list[str]], dict[str, str] | str | None]  # of a model and columns of a training set


class Training(NamedTuple):
    """What trains a kind of model: the trainer and its arguments (classes of sentence-transformers), and the losses.

    `loss` makes the loss of a name for a model, with a margin, weights of regularizers, or the temperature and scale of
    a loss with a teacher where given. `outputs` are
    those of the model's outputs that losses use. `head` gives the parameters of a model's prediction head, where such
    models have one.
    `prompts` gives what the arguments take as `prompts`, for a model and the columns of a training set.
    """

    trainer: type
    arguments: type
    loss: Callable[..., Any]
    outputs: tuple[str, ...]
    head: Callable[[Any], list[Any]] | None = None
    prompts: PromptsOfColumns | None = None


class Scorer(NamedTuple):
    """`score` gives the logits of pairs of texts: float32 of shape (pairs,). `facts` say, for the timing, by what.

    `tokenizer` is the model's, of the library tokenizers, where it has such a one. `prompts` are those that it puts.
    `chunk` is how many pairs it is to get at a time: it sorts them by length, to pad less.
    """

    score: Callable[[list[TextPair]], np.ndarray]
    facts: JsonObject
    tokenizer: Any = None
    prompts: dict[str, str] | None = None
    chunk: int = CHUNK


class WordTagger(Protocol):
    """A loaded model that labels words; `labels` are those that it knows."""

    labels: frozenset[str]

    def tag(self, texts: list[str]) -> list[Spans]:
        """The labelled spans of each text."""


class Writer(Protocol):
    """A loaded model that writes queries; `facts` are for the record of what was written."""

    facts: JsonObject

    def write(self, prompt: str, documents: list[str], seed: int) -> list[str]:
        """A query for each document, by a prompt with {document}."""


class Adapter(Protocol):
    """A kind of model. One that searches has `encode`, one that states TAGS `load_tagger`, one that states WRITES
    `load_writer`, any other `load_scorer`.

    One that cannot be trained has an empty LOSSES, and needs no default losses, `warm_up` or `training`. Without
    `DISTILLED` and `DEFAULT_DISTILLED` it learns from no teacher. Without
    `HAS_HEAD`, `MARGINS` or `tokenizer` it takes no rate of a head, no margin, and no lengths of queries and documents.
    One without `give_prompts` takes no prompts of a configuration, and one without `prompts` stores none either;
    PROMPTED names the roles that have one, where these are not both. One without `facts` computes by torch. One without
    `truncate` has no vectors to truncate, and MATRYOSHKA says that the losses can be of several dimensions at once.
    """

    NAME: str  # a model's `type`
    LOADED_BY: str  # the class of sentence-transformers that loads a checkpoint; without it none is given away
    PIPELINE_TAG: str  # what the hub of Hugging Face calls its use
    SEARCHES: bool  # whether it encodes each text once, apart from others, and so can search a corpus alone
    INDEX: str  # the form of its index where that is not "vectors", one a text: "token-vectors" or "terms"
    BACKENDS: tuple[str, ...]  # what can compute at inference, of torch and onnx
    REMOTE: bool  # whether somebody else computes: such a model has an `endpoint`, and no weights here; else not
    EXPORTS: bool  # whether checkpoints of torch can be turned into ONNX, by `exportable`; without it they cannot
    PROMPTED: tuple[Role, ...]  # the texts before which prompts stand
    BY_TOKENS: bool  # whether its batches can have so many tokens in place of texts (see token_batches); else not
    Keys: type  # the record of keys that its models have beside those of all, where there are such (see keys.py)
    DESCRIPTION: str  # what the schema says of it: how it ranks, and of what max_length counts the tokens
    LOSSES: dict[str, str]  # the losses that fit -> the shape of examples that each takes (see losses.py)
    DISTILLED: dict[str, str]  # the losses with a teacher -> the shape of examples that each takes (see teaching.py)
    MARGINS: dict[str, str]  # the losses that have a margin -> what the library calls it
    REGULARIZED: tuple[str, ...]  # the losses with regularizers of documents and queries, where there are such
    HAS_HEAD: bool  # whether a prediction head, which may learn at a rate of its own, follows the encoder
    DEFAULT_LOSS: str
    DEFAULT_LOSS_OF_PASSAGES: str  # where texts are split into passages: one of labelled pairs, if any takes such
    DEFAULT_DISTILLED: str  # where there is a teacher

    def load(self, folder: Path, max_length: int, to_train: bool = False) -> Any:
        """Load a model; one that is `to_train` may lack what its training adds, drawn from torch's random state.

        All else that it computes with has to be in its files (see loading.load).
        """

    def tokenizer(self, model: Any) -> Any:
        """A model's tokenizer, of the library tokenizers; None where it has another."""

    def prompts(self, model: Any) -> dict[str, str]:
        """What a model puts before queries and documents, by role; "" or no entry is nothing."""

    def give_prompts(self, model: Any, prompts: dict[str, str]) -> None:
        """Let a model put these prompts before texts of their roles, and store them where it is saved."""

    def facts(self, model: Any) -> dict[str, Any]:
        """What timings say of what a model that searches computes by: its precision, and what is not torch's."""

    def truncate(self, model: Any, dimensions: int) -> Callable[[np.ndarray], np.ndarray]:
        """Let a model give the first dimensions of each vector; returns what makes them of whole vectors."""

    def warm_up(self, model: Any, batch_size: int) -> None:
        """Let one batch pass a model that is to be trained."""

    def training(self) -> Training:
        """What trains such a model."""

    def encode(self, model: Any, texts: list[str], batch_size: int, role: Role) -> Any:
        """The texts' vectors: float32 of shape (texts, dimensions), all finite; a dot product is the similarity.

        Of token vectors, a list with an array of shape (tokens, dimensions) a text; MaxSim is the similarity.
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
        """Load a model that scores pairs, in batches of so many pairs, or tokens where it is said.

        A kind with `give_prompts` puts these prompts in place of those that the model stores.
        """

    def scorer(self, model: Any, batch_size: int) -> Scorer:
        """What scores pairs by a loaded model, for a kind that can be evaluated while it is trained."""

    def exportable(self, model: Any, folder: Path) -> Any:
        """What of a loaded model is exported (see onnx_export); `folder` gets what the kind writes beside the graph."""

    def load_writer(self, folder: Path, max_length: int, batch_size: int) -> Writer:
        """Load a model that writes queries."""

    def load_tagger(self, folder: Path, max_length: int, batch_size: int) -> WordTagger:
        """Load a model that labels words."""


def adapter(name: str) -> Adapter:
    """The adapter of one kind. Raises UserError where there is none of this name."""
    try:
        return cast(Adapter, plugins.load(KINDS, name))
    except ValueError as error:
        raise UserError(f"type: {error}") from None


def tags(name: str) -> bool:
    """Whether models of a kind label words, and so rank nothing."""
    return bool(getattr(adapter(name), "TAGS", False))


def writes(name: str) -> bool:
    """Whether models of a kind write queries, and so rank nothing."""
    return bool(getattr(adapter(name), "WRITES", False))


def behind_endpoint(name: str) -> bool:
    """Whether models of a kind are behind an endpoint."""
    return bool(getattr(adapter(name), "REMOTE", False))


def exports(name: str) -> bool:
    """Whether checkpoints of a kind can be turned into ONNX."""
    return bool(getattr(adapter(name), "EXPORTS", False))


def index_of(name: str) -> str:
    """The form of the index of models of a kind: "vectors", one a text, unless the kind states another."""
    return str(getattr(adapter(name), "INDEX", "vectors"))


def adapters() -> dict[str, Adapter]:
    """The adapters of all kinds by their names."""
    return cast(dict[str, Adapter], plugins.load_all(KINDS))
