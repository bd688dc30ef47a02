"""What the adapters of searching models share: prompts, tokenizer, and facts for timings.

A model is one of sentence-transformers, or an ONNX model with the same attributes.
"""

from __future__ import annotations

from typing import Any


def prompts(model: Any) -> dict[str, str]:
    """The prompts that encode_query and encode_document put before a text."""
    return {"query": model.prompts["query"], "document": model.prompts["document"]}


def give_prompts(model: Any, prompts: dict[str, str]) -> None:
    """Set the prompts of encode_query and encode_document, which are stored when the model is saved."""
    model.prompts.update(prompts)


def tokenizer(model: Any) -> Any:
    """The model's tokenizer, if it comes from the tokenizers library; None for one written in Python."""
    from tokenizers import Tokenizer

    of_library = isinstance(model.tokenizer, Tokenizer)  # of an ONNX model, or of a static embedding
    return model.tokenizer if of_library else getattr(model.tokenizer, "backend_tokenizer", None)


def facts(model: Any) -> dict[str, Any]:
    """What timings record about how a model computes."""
    from ranktrial.models.running import computed_in, is_module

    return computed_in(model) if is_module(model) else model.facts
