"""Our number for a printed cell; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Found:
    """Our number for a cell with its sd and its place; without a number, the reason."""

    value: float | None = None
    sd: float | None = None
    runs: int | None = None
    place: dict[str, str] = field(default_factory=dict)
    reason: str = ""
