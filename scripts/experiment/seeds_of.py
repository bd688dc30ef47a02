"""Where the luck of a trained system's checkpoints is known from: what planning finds out and a comparison is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

OWN, BORROWED, UNKNOWN = "own", "borrowed", "unknown"
DIFFERENCE = "difference"  # stands for control and treatment that rank with the same checkpoints


@dataclass(frozen=True)
class SeedsOf:
    """Where the luck of a trained system's checkpoints is known from."""

    status: Annotated[str, "own: several seeds of its own; borrowed: those of another system; unknown"]
    system: Annotated[str | None, "whose seeds these are"] = None
