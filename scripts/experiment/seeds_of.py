"""From whose seeds the seed variance of a trained system is estimated: found by planning, read by a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

OWN, BORROWED, UNKNOWN = "own", "borrowed", "unknown"


@dataclass(frozen=True)
class SeedsOf:
    """From whose seeds the seed variance of a trained system is estimated."""

    status: Annotated[str, "own: several seeds of its own; borrowed: those of another system; unknown"]
    system: Annotated[str | None, "whose seeds these are"] = None
