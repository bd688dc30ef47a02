"""Ctrl-C ends a command with one line instead of a traceback. Imports nothing slow, so that it takes effect early."""

from __future__ import annotations

import sys
from types import TracebackType

SAID = "interrupted; what was finished is kept, run the same command to continue"


def in_one_line() -> None:
    """Report an unhandled interruption in one line from now on; the exit code remains that of the signal."""
    sys.excepthook = _hook


def _hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print(f"\n{SAID}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)
