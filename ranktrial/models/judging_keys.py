"""The keys of a cross-encoder's score: a language model's tokens, or a classifier's label.

They are separate from language_models because the configuration is checked where torch is not installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.keys import Needs, Rule

KEYS = ("true_token", "false_token")  # the keys of a language model
BY_TORCH = Needs("backend: torch")
Token = Annotated[str, Rule(min_length=1, max_length=100)]


@dataclass(frozen=True, kw_only=True)
class Judging:
    """What a cross-encoder's score is computed from."""

    true_token: Annotated[
        Token | None, "for a language model: the token whose logit is the score, such as yes", BY_TORCH
    ] = None
    false_token: Annotated[
        Token | None,
        "for a language model: the token whose logit is subtracted from that of true_token, such as no",
        BY_TORCH,
        Needs("true_token"),
    ] = None
    label: Annotated[
        Annotated[int, Rule(minimum=0, maximum=999)] | Token | None,
        "for a classifier with several labels: the label that means relevance, by number (from 0) or by name in "
        "config.json; the score is the log odds of its probability",
    ] = None
