"""The source of a trained system's seed variance: determined by planning, read by the job of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

OWN, BORROWED, UNKNOWN = "own", "borrowed", "unknown"


@dataclass(frozen=True)
class SeedsOf:
    """The system whose seeds are used to estimate the seed variance of a trained system."""

    status: Annotated[str, "own: several seeds of its own; borrowed: those of another system; unknown"]
    system: Annotated[str | None, "whose seeds these are"] = None
