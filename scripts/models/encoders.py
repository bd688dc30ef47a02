"""What the kinds of models that search share, as an adapter has it: prompts, tokenizer, and what they compute by.

A model is one of sentence-transformers, or one in ONNX that has the same attributes.
"""

from __future__ import annotations

from typing import Any


def prompts(model: Any) -> dict[str, str]:
    """What encode_query and encode_document put before a text."""
    return {"query": model.prompts["query"], "document": model.prompts["document"]}


def give_prompts(model: Any, prompts: dict[str, str]) -> None:
    """Set the prompts that encode_query and encode_document put, which the model stores when it is saved."""
    model.prompts.update(prompts)


def tokenizer(model: Any) -> Any:
    """The model's tokenizer, of the library tokenizers; None where it has one written in Python."""
    from scripts.models.running import is_module

    return getattr(model.tokenizer, "backend_tokenizer", None) if is_module(model) else model.tokenizer


def facts(model: Any) -> dict[str, Any]:
    """What timings say of what a model computes by."""
    from scripts.models.running import computed_in, is_module

    return computed_in(model) if is_module(model) else model.facts
