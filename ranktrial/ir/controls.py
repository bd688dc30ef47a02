"""Which of several systems is the control, where nobody says so: by the words in their names."""

from __future__ import annotations

from collections.abc import Iterable

CONTROLS = ("bm25", "baseline", "control", "gold")  # a system with one of these words in its name is the control


def control_of(systems: Iterable[str]) -> str:
    """The system whose name contains a word for controls, in the order of these; else the first system."""
    names = list(systems)
    return next((name for word in CONTROLS for name in names if word in name.lower()), names[0])


def is_named_so(control: str) -> bool:
    """Whether a system's name contains a word for controls."""
    return any(word in control.lower() for word in CONTROLS)
