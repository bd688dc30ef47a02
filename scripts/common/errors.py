"""How a step tells its user of a mistake: one line, exit code 1, no traceback."""

from __future__ import annotations

import errno
import locale
import os
import sys
from collections.abc import Callable

from scripts.common.characters import REFUSED


class UserError(Exception):
    """A mistake in what the user gave: names the file and line (or key), what is wrong and what would be right."""

    def __str__(self) -> str:
        """One line, whatever names and values it tells of: what would end the line or steer a terminal is spelt."""
        return REFUSED.sub(lambda found: found[0].encode("unicode_escape").decode(), super().__str__())


def ensure_utf8() -> None:
    """Begin anew in Python's UTF-8 mode where the locale would let texts and options be read in another encoding."""
    if not sys.flags.utf8_mode and locale.getencoding().lower().replace("-", "") != "utf8":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def run(main: Callable[[], None]) -> None:
    """Run a script's `main`; a UserError or an operating-system error becomes one line on stderr and exit code 1.

    Where the user's data changed while it was read, that is what is told, and not what half of it looked like.
    """
    from scripts.common import held

    ensure_utf8()
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {held.changed() or error}")
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        place = error.filename
        if place is None and error.errno == errno.ENOSPC:  # results are told by their writer
            place = os.environ.get("TMPDIR") or "/tmp"
        sys.exit(f"error: {place}: {error.strerror}" if place else f"error: {error}")
