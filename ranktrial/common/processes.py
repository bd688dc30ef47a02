"""Processes of this machine, and their end by Ctrl-C.

Ctrl-C ends a command with one line instead of a traceback. Imports nothing slow, so that it takes effect early.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType


def exists(pid: int) -> bool:
    """Whether there is a process of this number, also another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


SAID = "interrupted; what was finished is kept, run the same command to continue"


def in_one_line() -> None:
    """Report an unhandled interruption in one line from now on; the exit code remains that of the signal."""
    sys.excepthook = _hook


def _hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print(f"\n{SAID}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)
