"""A randomly initialised two-layer BERT with a small WordPiece vocabulary: a model for tests, built in a second."""

import json
from pathlib import Path

from ranktrial.models import loading  # first: it sets what the libraries read while they are imported

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MODULES = {"": "sentence_transformers.models.Transformer", "1_Pooling": "sentence_transformers.models.Pooling"}
WIDTH = 32


def vocabulary(texts: list[str]) -> list[str]:
    """The special tokens, all letters (alone and inside a word) and all words of the texts."""
    words = sorted({word for text in texts for word in text.lower().split()})
    letters = sorted({letter for word in words for letter in word})
    return list(dict.fromkeys([*SPECIAL, *letters, *(f"##{letter}" for letter in letters), *words]))


def build(folder: Path, texts: list[str], seed: int) -> Path:
    """Write the model as a folder of sentence-transformers, which is a start for a cross-encoder too; returns it."""
    _write(folder, texts, seed, "BertModel")
    modules = [{"idx": n, "name": str(n), "path": path, "type": kind} for n, (path, kind) in enumerate(MODULES.items())]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    pooling = {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder


def build_masked(folder: Path, texts: list[str], seed: int) -> Path:
    """Write a BERT that predicts masked words, as which a sparse encoder starts: a transformers folder; returns it."""
    _write(folder, texts, seed, "BertForMaskedLM", initializer_range=0.3)
    return folder


def build_labelling(folder: Path, texts: list[str], seed: int, labels: int, **further: object) -> Path:
    """Write a BERT that gives a text or a pair logits of so many labels: a transformers folder; returns it.

    `further` goes into its configuration.
    """
    _write(folder, texts, seed, "BertForSequenceClassification", num_labels=labels, initializer_range=0.3, **further)
    return folder


def _write(folder: Path, texts: list[str], seed: int, architecture: str, **further: object) -> None:
    import torch
    import transformers

    loading.quiet()
    folder.mkdir(parents=True, exist_ok=True)
    words = vocabulary(texts)
    tokenizer = transformers.BertTokenizerFast(vocab={word: n for n, word in enumerate(words)}, model_max_length=64)
    tokenizer.save_pretrained(folder)
    sizes = {
        **{"vocab_size": len(words), "max_position_embeddings": 64, **further},
        **{"hidden_size": WIDTH, "intermediate_size": 2 * WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2},
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        getattr(transformers, architecture)(transformers.BertConfig(**sizes)).save_pretrained(folder)
