"""Models that label the words of a text (token classification in transformers). They do not rank; features use them.

A word has the label of its first token. A text longer than the model's input is read in windows that overlap by a
quarter; the first window that contains a word determines its label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranktrial.common.errors import UserError

if TYPE_CHECKING:
    from ranktrial.models.adapters import Spans

NAME = "token-classification"
SEARCHES = False
TAGS = True
BACKENDS = ("torch",)
DESCRIPTION = "labels the words of a text, for features only (tagger); max_length applies to a window of a text"
LOSSES: dict[str, str] = {}

OUTSIDE = "O"  # the label of a word outside all spans
_WORD = re.compile(r"\w+(?:[.'\u2019&+#/-]\w+)*|[^\w\s]")


class Tagger:
    """A loaded model; `labels` are the labels that words can have, without the prefixes B- and I-."""

    def __init__(self, model: Any, tokenizer: Any, max_length: int, batch_size: int) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.max_length, self.batch_size = max_length, batch_size
        names = model.config.id2label
        self.names = [str(names[number]) for number in range(len(names))]
        self.labels = frozenset(bare(name) for name in self.names) - {OUTSIDE}

    def tag(self, texts: list[str]) -> list[Spans]:
        """The labelled spans of each text, in order: (label, words joined by spaces)."""
        words = [_WORD.findall(text) for text in texts]
        labels = [[OUTSIDE] * len(of_text) for of_text in words]
        filled = [place for place, of_text in enumerate(words) if of_text]
        known: set[tuple[int, int]] = set()
        for place, word, label in self._labels([words[place] for place in filled]):
            if (place, word) not in known:
                known.add((place, word))
                labels[filled[place]][word] = label
        return [spans(of_text, of_words) for of_text, of_words in zip(words, labels, strict=True)]

    def _labels(self, texts: list[list[str]]) -> Iterator[tuple[int, int, str]]:
        """Yield (text, word, label) for the first token of each word in each window."""
        import torch

        from ranktrial.models.running import autocast, finite

        if not texts:
            return
        room = self.max_length - self.tokenizer.num_special_tokens_to_add()
        encoded = self.tokenizer(
            texts, is_split_into_words=True, truncation=True, max_length=self.max_length, stride=room // 4,
            return_overflowing_tokens=True,
        )  # fmt: skip
        of_text = encoded.pop("overflow_to_sample_mapping")
        for start in range(0, len(of_text), self.batch_size):
            windows = range(start, min(start + self.batch_size, len(of_text)))
            rows = {name: [values[window] for window in windows] for name, values in encoded.items()}
            batch = self.tokenizer.pad(rows, return_tensors="pt").to(self.model.device)
            with torch.inference_mode(), autocast():
                logits = self.model(**batch).logits.float().cpu().numpy()
            best = finite(logits).argmax(axis=-1)
            for row, window in enumerate(windows):
                last = None
                for token, word in enumerate(encoded.word_ids(window)):
                    if word is not None and word != last:
                        yield of_text[window], word, self.names[best[row, token]]
                    last = word


def load_tagger(folder: Path, max_length: int, batch_size: int) -> Tagger:
    """Load a token-classification model from a local folder. Raises UserError if it has no head for that."""
    from ranktrial.models import loading
    from ranktrial.models.running import device

    config = loading.check(folder)
    if not any(name.endswith("ForTokenClassification") for name in config.get("architectures") or []):
        raise UserError(f"{folder}: its weights have no head that labels tokens, so labels would be random")
    loading.quiet()
    import torch
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    from ranktrial.models.from_files import check, recorded

    own = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **own)
        with recorded(torch.float32) as made:
            model = AutoModelForTokenClassification.from_pretrained(str(folder), use_safetensors=True, **own)
    except Exception as error:  # any exception of the library for a model that is damaged or needs its own code
        raise loading.cannot_load(folder, error) from None
    check(model, made, folder)
    loading.complete_tokenizer(tokenizer, model, folder)
    if not tokenizer.is_fast:
        raise UserError(
            f"{folder}: its tokenizer does not report which token is of which word; expected a tokenizer.json"
        )
    loading.check_length(model, folder, max_length)
    if max_length <= tokenizer.num_special_tokens_to_add() + 1:
        raise UserError(f"{folder}: max_length is {max_length}, which leaves no room for words")
    return Tagger(model.to(device()).eval(), tokenizer, max_length, batch_size)


def bare(label: str) -> str:
    """A label without the prefix B- or I-, which says whether a span begins or continues."""
    return label[2:] if label[:2] in ("B-", "I-") else label


def spans(words: list[str], labels: list[str]) -> Spans:
    """Merge consecutive words with the same label into spans; B- begins a new span. Punctuation alone is not a span."""
    found: list[tuple[str, list[str]]] = []
    last = OUTSIDE
    for word, label in zip(words, labels, strict=True):
        name = bare(label)
        if name != OUTSIDE and any(character.isalnum() for character in word):
            if name == last and not label.startswith("B-"):
                found[-1][1].append(word)
            else:
                found.append((name, [word]))
            last = name
        else:
            last = OUTSIDE
    return [(name, " ".join(parts)) for name, parts in found]
