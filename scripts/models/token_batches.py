"""Batches by tokens: texts are tokenised once and sorted by their number of tokens to reduce padding.

A batch has a fixed number of texts, or as many as fit into a number of tokens, padding included. The library sorts
texts by characters, although texts of the same length may differ in tokens by a factor of two, and tokenises each pair
as a whole: a query once per candidate, and a document each time it is a candidate. Here, the model gets the same
tokens: for a sample of texts, they are compared with the library's. If its tokenizer behaves differently (or is written
in Python), the library tokenises all texts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch

from scripts.models.batch_sizes import texts_per_batch
from scripts.models.kernels import fast
from scripts.models.side_by_side import Text, each_batch, replaced

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


def kept_of_pair(first: int, second: int, room: int) -> tuple[int, int]:
    """The number of tokens kept of each text of a pair within `room`, truncated as in tokenizers: longer text first."""
    if first + second <= room:
        return first, second
    short, long = sorted((first, second))
    long = max(short, room - short) if short <= room else short
    if short + long > room:
        short = room // 2
        long = short + room % 2
    return (short, long) if first <= second else (long, short)


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
            raise Unsuited("the tokenizer is written in Python")
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
        self.tokens = {text: np.asarray(found.ids, np.int64) for text, found in zip(ordered, encoded, strict=True)}
        self.lengths = np.array([self.length(text) for text in texts])
        by_length = self.lengths.argsort(kind="stable")
        self.sample = [texts[place] for place in by_length[:: -(-len(texts) // SAMPLE)]]
        self.beside: dict[str, Any] | None = None  # what the library returns in addition to tensors
        self.trusted = True

    def parts(self, text: Text) -> list[str]:
        """A text, or the two texts of a pair, with the prompt."""
        first, *others = [text] if isinstance(text, str) else text
        return [self.prompt + first, *others]

    def row(self, text: Text) -> list[np.ndarray]:
        """The tokens kept of a text, or of the two texts of a pair."""
        tokens = [self.tokens[part] for part in self.parts(text)]
        if len(tokens) == 1:
            return [tokens[0][: self.room]]
        kept = kept_of_pair(len(tokens[0]), len(tokens[1]), self.room)
        return [one[:count] for one, count in zip(tokens, kept, strict=True)]

    def length(self, text: Text) -> int:
        """The number of tokens of a text or pair, including special tokens."""
        return self.frame.size + sum(map(len, self.row(text)))

    def tensors(self, texts: Sequence[Text]) -> dict[str, torch.Tensor]:
        """A batch, padded to its longest text: ids, mask and types, each int64 of shape (texts, tokens)."""
        special = [np.array(one, np.int64).reshape(-1, 2) for one in self.frame.special]
        rows = []
        for text in texts:
            ids, types = [special[0][:, 0]], [special[0][:, 1]]
            for part, kind, behind in zip(self.row(text), self.frame.types, special[1:], strict=True):
                ids += [part, behind[:, 0]]
                types += [np.full(len(part), kind), behind[:, 1]]
            rows.append((np.concatenate(ids), np.concatenate(types)))
        width = max(len(ids) for ids, _ in rows)
        made = {"input_ids": np.full((len(rows), width), self.padding, np.int64)}
        made |= {name: np.zeros((len(rows), width), np.int64) for name in ("attention_mask", "token_type_ids")}
        for number, (ids, types) in enumerate(rows):
            made["input_ids"][number, : len(ids)] = ids
            made["attention_mask"][number, : len(ids)] = 1
            made["token_type_ids"][number, : len(ids)] = types
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
    tokens = None
    try:
        tokens = Tokenised(model, texts, prompt)
    except Unsuited as why:
        if most:
            print(f"batches of {batch_size} texts, not by tokens: {why}", file=sys.stderr)
        most = model.batch_tokens = None  # the same would hold for all further texts
    lengths = np.array([_characters(text) for text in texts]) if tokens is None else tokens.lengths
    order = batches(lengths, batch_size, most)
    of_batch = partial(compute, convert_to_tensor=True)
    with replaced(model, model.preprocess if tokens is None else tokens.preprocess):
        parts = each_batch(model, lambda some: of_batch(some, batch_size=len(some)), texts, order)
    if most and tokens and not tokens.trusted:
        print("texts were tokenised by the library, whose tokens are others", file=sys.stderr)
    rows = torch.cat(parts).float().cpu().numpy()
    found = np.empty_like(rows)
    found[np.concatenate(order)] = rows
    return found


def _characters(text: Text) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))
