"""Truncation of queries and documents to their first tokens, separately, before they are paired or encoded.

A model's own limit, `max_length`, applies to its whole input: in a pair, a long document would otherwise crowd out the
query, or a long query the document. A text is cut where its last kept token ends. Tokens are counted without the
special tokens and without the model's prompt, which is put before the truncated text and needs additional room within
`max_length`. Training, encoding and scoring truncate in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.models.adapters import Adapter, Role, Scorer, TextPair
from ranktrial.models.prompts import ROLES, prompts_of, role_of

Cut = Callable[[list[str], Role], list[str]]


class Lengths(Protocol):
    """The settings of a script that state how many tokens are kept."""

    @property
    def max_length(self) -> int: ...
    @property
    def max_query_length(self) -> int | None: ...
    @property
    def max_document_length(self) -> int | None: ...


def cutter(tokenizer: Any, lengths: Lengths, in_pairs: bool, prompts: dict[str, str] | None = None) -> Cut | None:
    """A function that truncates texts by a tokenizer of the tokenizers library; None if only the model's limit applies.

    Raises UserError if the limits, the special tokens and the prompts (by role) together exceed the model's
    `max_length`: for a pair of texts if the model takes pairs, otherwise for each text.
    """
    limits = {"query": lengths.max_query_length, "document": lengths.max_document_length}
    given = {role: limit for role, limit in limits.items() if limit is not None}
    if tokenizer is None:
        if given:
            raise UserError("max_query_length and max_document_length need a fast tokenizer, which this model lacks")
        return None
    special = tokenizer.num_special_tokens_to_add(in_pairs)
    prompt_tokens = {role: count_tokens(tokenizer, (prompts or {}).get(role, "")) for role in limits}
    # A text without a limit needs room for at least one token.
    needed = [(limit or 1) + prompt_tokens[role] for role, limit in limits.items()]
    whole = sum(needed) if in_pairs else max(needed)
    if whole + special > lengths.max_length and (given or any(prompt_tokens.values())):
        words = [f"max_{role}_length {limit}" for role, limit in given.items()] or ["texts"]
        counted = [f"{count} tokens of the {role} prompt" for role, count in prompt_tokens.items() if count]
        beside = " and ".join([f"{special} special tokens", *counted])
        problem = f"do not fit into max_length {lengths.max_length} with {beside}; raise it or lower them"
        raise UserError(f"{' and '.join(words)} {problem}")
    if not given:
        return None
    cutters = {role: _Cutter(tokenizer, limit) for role, limit in given.items()}
    return lambda texts, role: cutters[role].cut(texts) if role in cutters else texts


def count_tokens(tokenizer: Any, text: str) -> int:
    """The number of tokens of a text, without special tokens."""
    if not text:
        return 0
    whole = type(tokenizer).from_str(tokenizer.to_str())  # a copy, since truncation is state of the tokenizer
    whole.no_padding()
    whole.no_truncation()
    return len(whole.encode(text, add_special_tokens=False).ids)


class _Cutter:
    """Truncates texts to their first `limit` tokens."""

    def __init__(self, tokenizer: Any, limit: int) -> None:
        self.tokenizer = type(tokenizer).from_str(tokenizer.to_str())  # a copy, since truncation is state
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(limit, direction="right")
        self.limit = limit

    def cut(self, texts: list[str]) -> list[str]:
        encodings = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        whole = zip(texts, encodings, strict=True)
        return [text if len(encoding.ids) < self.limit else self._first(text, encoding) for text, encoding in whole]

    def _first(self, text: str, encoding: Any) -> str:
        """The text up to the end of its last token.

        A tokenizer may split a truncated word differently from the whole word. Tokens are then dropped from the end
        until the remaining text is tokenised as before.
        """
        for kept in range(len(encoding.ids), 0, -1):
            shorter: str = text[: encoding.offsets[kept - 1][1]]
            if self.tokenizer.encode(shorter, add_special_tokens=False).ids == encoding.ids[:kept]:
                return shorter
        return ""


def cut_columns(columns: dict[str, list], cut: Cut | None) -> dict[str, list]:
    """The columns of a training set (see ranktrial/training/examples.py) with truncated texts."""
    if cut is None:
        return columns
    shorter = {}
    for name, values in columns.items():
        if name == "label":
            shorter[name] = values
        elif name == "documents":
            shorter[name] = [cut(documents, "document") for documents in values]
        else:
            shorter[name] = cut(values, role_of(name))
    return shorter


def cutting_encoder(
    model_type: Adapter, model: Any, lengths: Lengths, roles: Iterable[Role] = ROLES
) -> Callable[..., Any]:
    """A function (texts, batch_size, role) that truncates texts of these roles and encodes them with a model."""
    cut = cutter(tokenizer_of(model_type, model), lengths, in_pairs=False, prompts=prompts_of(model_type, model, roles))

    def encode(texts: list[str], batch_size: int, role: Role) -> Any:
        return model_type.encode(model, cut(texts, role) if cut else texts, batch_size, role)

    return encode


def cutting_scorer(whole: Scorer, lengths: Lengths) -> Scorer:
    """A scorer of pairs that truncates their texts first."""
    cut = cutter(whole.tokenizer, lengths, in_pairs=True, prompts=whole.prompts)
    if cut is None:
        return whole

    def score(pairs: list[TextPair]) -> np.ndarray:
        queries = list(dict.fromkeys(query for query, _ in pairs))  # each occurs in many pairs
        shorter = dict(zip(queries, cut(queries, "query"), strict=True))
        documents = cut([document for _, document in pairs], "document")
        return whole.score([(shorter[query], document) for (query, _), document in zip(pairs, documents, strict=True)])

    return whole._replace(score=score)


def tokenizer_of(model_type: Adapter, model: Any) -> Any:
    """The tokenizer of a loaded model, if it comes from the tokenizers library; otherwise None."""
    stated = getattr(model_type, "tokenizer", None)
    return stated(model) if stated else None
