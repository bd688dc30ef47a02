"""Batches by tokens: texts are tokenised once and sorted by their number of tokens to reduce padding.

A batch has a fixed number of texts, or as many as fit into a number of tokens, padding included. The library sorts
texts by characters, although texts of the same length may differ in tokens by a factor of two, and tokenises each pair
as a whole: a query once per candidate, and a document each time it is a candidate. Here, the model gets the same
tokens: for a sample of texts, they are compared with the library's. If its tokenizer behaves differently (or is written
in Python), the library tokenises all texts.

On a CPU, each thread of a job computes whole batches of a torch model. Threads that share a batch wait for each other
at every operation, which takes a fifteenth of the time with two threads. The batches are the same, and each is computed
by one thread (unless there are many threads), so a job with several threads gives the same result as a job with one,
bit for bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch

from ranktrial.models.batch_sizes import BATCHES, texts_per_batch
from ranktrial.models.gpu import on_gpu, unread_masks, waiting
from ranktrial.models.kernels import fast

Text = TypeVar("Text", str, tuple[str, str])
Result = TypeVar("Result")

MOST = 4  # concurrent batches, since each takes memory; with more threads, several share a batch
LEAST = 2  # batches per worker; with fewer, some workers would wait for the last batch


def each_batch(
    model: Any, compute: Callable[[list[Text]], Result], texts: Sequence[Text], batches: Sequence[np.ndarray]
) -> list[Result]:
    """The results of `compute` for all batches, given as indices of texts; `model` is the library model that it runs.

    On a device other than the CPU, or with one thread or few batches, they run sequentially.
    """

    def of(batch: np.ndarray) -> Result:
        return compute([texts[place] for place in batch])

    threads, workers = torch.get_num_threads(), _workers(model)
    if workers == 1 or len(batches) < LEAST * workers:
        return [of(batch) for batch in batches]
    pool = ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(threads // workers,))
    try:
        with _tokenizing_in_turn(model), pool:
            return list(pool.map(of, batches))
    finally:
        torch.set_num_threads(threads)  # new threads start with the number that was set last


def _workers(model: Any) -> int:
    """The number of batches that a model computes concurrently."""
    return min(torch.get_num_threads(), MOST) if model.device.type == "cpu" else 1


@contextmanager
def replaced(model: Any, preprocess: Callable[..., Any]) -> Iterator[None]:
    """Replace a library model's `preprocess` by this function within the context."""
    previous = vars(model).get("preprocess")
    model.preprocess = preprocess
    try:
        yield
    finally:
        del model.preprocess
        if previous is not None:
            model.preprocess = previous


@contextmanager
def _tokenizing_in_turn(model: Any) -> Iterator[None]:
    """Let only one thread at a time use a model's tokenizer, since padding and truncation are its state."""
    whole, lock = model.preprocess, Lock()

    def preprocess(*arguments: Any, **options: Any) -> Any:
        with lock:
            return whole(*arguments, **options)

    with replaced(model, preprocess):
        yield


SAMPLE = 64  # texts, from the shortest to the longest, whose tokens are compared with the library's
TENSORS = {"input_ids", "attention_mask", "token_type_ids"}  # tensors of a batch that are made here
COPIES: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # model -> its tokenizer without truncation and padding


class Unsuited(Exception):
    """Raised with the reason if a tokenizer is not supported here."""


class Frame(NamedTuple):
    """The special tokens that a tokenizer adds: (id, type) before, between and after texts, and each text's type."""

    special: list[list[tuple[int, int]]]
    types: list[int]

    @property
    def size(self) -> int:
        """The number of special tokens."""
        return sum(map(len, self.special))


def frame(tokenizer: Any, count: int) -> Frame | None:
    """The frame for `count` texts, from a tokenizer of the tokenizers library; None if it reorders or mixes texts."""
    found = tokenizer.encode(*["a"] * count)
    made = Frame([[]], [])
    for token, kind, place in zip(found.ids, found.type_ids, found.sequence_ids, strict=True):
        if place is None:
            made.special[-1].append((token, kind))
        elif place == len(made.types):
            made.types.append(kind)
            made.special.append([])
        elif place != len(made.types) - 1 or made.special[-1]:
            return None
    return made if len(made.types) == count else None


def kept_of_pair(first: np.ndarray, second: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of tokens kept of each text of pairs within `room`, truncated as in tokenizers: longer text first.

    Both have the shape of `first` and `second`.
    """
    short = np.minimum(first, second)
    cut = np.where(short <= room, np.maximum(short, room - short), short)
    both = short + cut > room
    kept_short = np.where(both, room // 2, short)
    kept_long = np.where(both, room // 2 + room % 2, cut)
    fits, first_short = first + second <= room, first <= second
    return (
        np.where(fits, first, np.where(first_short, kept_short, kept_long)),
        np.where(fits, second, np.where(first_short, kept_long, kept_short)),
    )


def batches(lengths: np.ndarray, batch_size: int, most: int | None = None) -> list[np.ndarray]:
    """The indices of texts by descending length, in batches of `batch_size` texts.

    If `most` is given, a batch has as many texts as fit into `most` tokens, padding included, but at least one.
    """
    order = np.argsort(-lengths, kind="stable")
    made, first = [], 0
    while first < len(order):
        last = first + texts_per_batch(batch_size, most, max(1, int(lengths[order[first]])))
        made.append(order[first:last])
        first = last
    return made


def own_tokenizer(model: Any) -> Any:
    """A copy of a model's tokenizer without truncation and padding, made once. Raises Unsuited if there is none."""
    if model not in COPIES:
        whole = getattr(model.tokenizer, "backend_tokenizer", None)
        if whole is None:
            raise Unsuited("the model has no fast tokenizer of transformers")
        copy = type(whole).from_str(whole.to_str())  # a copy, since truncation is state of the tokenizer
        copy.no_padding()
        copy.no_truncation()
        COPIES[model] = copy
    return COPIES[model]


class Tokenised:
    """The tokens of texts or of the texts in pairs, each text tokenised once; `prompt` is put before the first text."""

    def __init__(self, model: Any, texts: Sequence[Text], prompt: str) -> None:
        """Raises Unsuited if the model's tokenizer does not allow it."""
        tokenizer, pairs = own_tokenizer(model), not isinstance(texts[0], str)
        if model.tokenizer.padding_side != "right" or model.tokenizer.truncation_side != "right":
            raise Unsuited("the tokenizer works from the left")
        if model.tokenizer.pad_token_id is None:
            raise Unsuited("the tokenizer has no token for padding")
        made = frame(tokenizer, 1 + pairs)
        if made is None:
            raise Unsuited("the tokenizer mixes the tokens of two texts")
        self.frame, self.prompt, self.padding = made, prompt, model.tokenizer.pad_token_id
        self.device = model.device
        self.room = model.max_seq_length - made.size
        self.library = model.preprocess
        wanted = {part for text in texts for part in self.parts(text)}
        ordered = sorted(wanted)
        encoded = tokenizer.encode_batch(ordered, add_special_tokens=False)
        self.counts = np.fromiter((len(found.ids) for found in encoded), np.int64, len(encoded))
        self.starts = np.cumsum(self.counts) - self.counts
        self.tokens = np.fromiter(chain.from_iterable(found.ids for found in encoded), np.int64, int(self.counts.sum()))
        self.numbers = {part: number for number, part in enumerate(ordered)}
        self.lengths = made.size + self.kept(self.parts_of(texts)).sum(axis=1)
        by_length = self.lengths.argsort(kind="stable")
        self.sample = [texts[place] for place in by_length[:: -(-len(texts) // SAMPLE)]]
        self.beside: dict[str, Any] | None = None  # what the library returns in addition to tensors
        self.trusted = True

    def parts(self, text: Text) -> list[str]:
        """A text, or the two texts of a pair, with the prompt."""
        first, *others = [text] if isinstance(text, str) else text
        return [self.prompt + first, *others]

    def parts_of(self, texts: Sequence[Text]) -> np.ndarray:
        """The numbers of the parts of texts or pairs: int64 of shape (texts, parts of each)."""
        return np.array([[self.numbers[part] for part in self.parts(text)] for text in texts], np.int64)

    def kept(self, parts: np.ndarray) -> np.ndarray:
        """The numbers of tokens kept of parts (texts, parts of each), of the same shape."""
        counts = self.counts[parts]
        if counts.shape[1] == 1:
            return np.minimum(counts, self.room)
        return np.stack(kept_of_pair(counts[:, 0], counts[:, 1], self.room), axis=1)

    def tensors(self, texts: Sequence[Text]) -> dict[str, torch.Tensor]:
        """A batch, padded to its longest text: ids, mask and types, each int64 of shape (texts, tokens)."""
        parts = self.parts_of(texts)
        kept = self.kept(parts)
        lengths = self.frame.size + kept.sum(axis=1)
        shape, rows = (len(texts), int(lengths.max())), np.arange(len(texts))
        made = {"input_ids": np.full(shape, self.padding, np.int64)}
        made["attention_mask"] = (np.arange(shape[1]) < lengths[:, None]).astype(np.int64)
        made["token_type_ids"] = np.zeros(shape, np.int64)
        column = np.zeros(len(texts), np.int64)
        for place, special in enumerate(self.frame.special):
            for token, kind in special:
                made["input_ids"][rows, column], made["token_type_ids"][rows, column] = token, kind
                column += 1
            if place < kept.shape[1]:
                counts = kept[:, place]
                within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
                here = (np.repeat(rows, counts), np.repeat(column, counts) + within)
                made["input_ids"][here] = self.tokens[np.repeat(self.starts[parts[:, place]], counts) + within]
                made["token_type_ids"][here] = self.frame.types[place]
                column += counts
        return {name: torch.from_numpy(values) for name, values in made.items()}

    def preprocess(self, inputs: Sequence[Text], prompt: str | None = None, **options: Any) -> dict[str, Any]:
        """The equivalent of the library's `preprocess` for a batch, from tokens computed beforehand."""
        if self.trusted and (prompt or "") == self.prompt:
            if self.beside is None:
                expected = self.library(self.sample, prompt=prompt, **options)
                self.trusted = _agree(self.tensors(self.sample), expected)
                self.given = [name for name in expected if name in TENSORS]
                self.beside = {name: value for name, value in expected.items() if name not in TENSORS}
            if self.trusted:
                made = self.tensors(inputs)
                if self.device.type == "cuda":  # copied while the GPU computes the previous batch
                    made = {name: made[name].pin_memory().to(self.device, non_blocking=True) for name in self.given}
                return {**self.beside, **{name: made[name] for name in self.given}}
        return self.library(inputs, prompt=prompt, **options)


def _agree(made: dict[str, torch.Tensor], expected: dict[str, Any]) -> bool:
    """Whether a batch equals the library's, and the library returns nothing else that differs between texts."""
    same = [name in made and torch.equal(made[name], value) for name, value in expected.items() if name in TENSORS]
    beside = [value for name, value in expected.items() if name not in TENSORS]
    return "input_ids" in expected and all(same) and all(isinstance(value, str | int | None) for value in beside)


def in_batches(
    model: Any, compute: Callable[..., Any], texts: Sequence[Text], batch_size: int, prompt: str = ""
) -> np.ndarray:
    """The results of `compute` for all texts, one row each in order, in `batches` of texts of similar length.

    `compute` gets texts and options of the library's methods. `model` is the library model that it runs; it puts the
    prompt before each text, or before the first text of a pair, and may have `batch_tokens`. A single batch is left to
    the library; so are all batches if only the library's kernels are used and batches by tokens are not requested.
    """
    most = getattr(model, "batch_tokens", None)
    if not fast() and not most:
        return compute(list(texts), batch_size=batch_size)
    if len(texts) <= texts_per_batch(batch_size, most, model.max_seq_length):
        return compute(list(texts), batch_size=max(1, len(texts)))
    size = len(texts) if not on_gpu(model) else BATCHES * texts_per_batch(batch_size, most, model.max_seq_length)
    groups = [texts[first : first + size] for first in range(0, len(texts), size)]
    parts, places = [], []

    def of_batch(some: list[Text]) -> Any:
        return compute(some, convert_to_tensor=True, batch_size=len(some))

    for number, tokens in enumerate(_tokenised(model, groups, batch_size, prompt)):
        group, most = groups[number], None if tokens is None else most
        lengths = np.array([_characters(text) for text in group]) if tokens is None else tokens.lengths
        order = batches(lengths, batch_size, most)
        with replaced(model, model.preprocess if tokens is None else tokens.preprocess), unread_masks(model):
            parts += each_batch(model, of_batch, group, order)
        places += [number * size + batch for batch in order]
        if most and tokens and not tokens.trusted:
            print("texts were tokenised by the library, whose tokens are others", file=sys.stderr)
    with waiting():
        rows = torch.cat(parts).float().cpu().numpy()
    found = np.empty_like(rows)
    found[np.concatenate(places)] = rows
    return found


def _tokenised(model: Any, groups: list[Sequence[Text]], batch_size: int, prompt: str) -> Iterator[Tokenised | None]:
    """The tokens of each group, read by another thread while the device computes the group before it."""
    read = partial(_tokens, model, batch_size=batch_size, prompt=prompt)
    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(read, groups[0])
        for group in groups[1:]:
            tokens, ahead = ahead.result(), pool.submit(read, group)
            yield tokens
        yield ahead.result()


def _tokens(model: Any, texts: Sequence[Text], batch_size: int, prompt: str) -> Tokenised | None:
    """The tokens of texts; None, and no batches by tokens from now on, if the model's tokenizer is not supported."""
    try:
        return Tokenised(model, texts, prompt)
    except Unsuited as why:
        if getattr(model, "batch_tokens", None):
            print(f"batches of {batch_size} texts, not by tokens: {why}", file=sys.stderr)
        model.batch_tokens = None  # the same would hold for all further texts
        return None


def _characters(text: Text) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))
