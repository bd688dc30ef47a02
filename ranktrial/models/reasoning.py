"""What a language model answers after its reasoning, which some models and endpoints send before the answer."""

from __future__ import annotations

START, END = "<think>", "</think>"


def without_reasoning(answer: str) -> str:
    """The answer after its last reasoning; empty if the reasoning does not end, since nothing is answered then."""
    said = answer.rpartition(END)[2]
    return "" if START in said else said
