"""Processes of this machine."""

from __future__ import annotations

import os


def exists(pid: int) -> bool:
    """Whether there is a process of this number, also another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
