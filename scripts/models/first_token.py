"""A cross-encoder's last layer for the first token alone, which is all that its head reads.

In that layer the first token attends to all others, whose keys and values are computed; their own queries, outputs and
feed-forward are not: of six layers that is a seventh of the work, of twelve a fourteenth. The scores are the same.
"""

from __future__ import annotations

import sys
from types import MethodType
from typing import Any

import torch

from scripts.models.kernels import fast

# Models of transformers whose head reads the first token, by their class; their layers have one form.
FAMILIES = ("Bert", "Roberta", "XLMRoberta", "Camembert", "Electra")
MODELS = {f"{family}ForSequenceClassification": f"{family}Layer" for family in FAMILIES}


def first_token_alone(whole: Any) -> bool:
    """Let a model of transformers compute its last layer for the first token alone. False where it does not."""
    if not fast():
        return False
    expected = MODELS.get(type(whole).__name__)
    encoder = getattr(getattr(whole, whole.base_model_prefix, None), "encoder", None)
    layers = getattr(encoder, "layer", None)
    if expected is None or not layers or type(layers[-1]).__name__ != expected or whole.config.is_decoder:
        return False
    layers[-1].forward = MethodType(_of_first_token, layers[-1])
    return True


def _of_first_token(layer: Any, hidden: torch.Tensor, attention_mask: torch.Tensor | None = None, *others, **options):
    """What the layer gives for the first token: shape (texts, 1, dimensions), of hidden (texts, tokens, dimensions)."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    attention, first = layer.attention.self, hidden[:, :1]
    eager = sys.modules[type(layer).__module__].eager_attention_forward
    attend = ALL_ATTENTION_FUNCTIONS.get_interface(attention.config._attn_implementation, eager)
    heads = [
        project(states).unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
        for project, states in ((attention.query, first), (attention.key, hidden), (attention.value, hidden))
    ]
    mask = attention_mask[:, :, :1] if attention_mask is not None and attention_mask.dim() == 4 else attention_mask
    attended, _ = attend(attention, *heads, mask, dropout=0.0, scaling=attention.scaling)
    return layer.feed_forward_chunk(layer.attention.output(attended.flatten(2), first))
