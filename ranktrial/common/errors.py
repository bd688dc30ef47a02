"""An error that the user can correct, as a message of one line."""

from __future__ import annotations

from ranktrial.common.characters import REFUSED


class UserError(Exception):
    """An error in the user's input; the message names the file and line (or key), what is wrong, what is expected."""

    def __str__(self) -> str:
        """The message on one line: characters that would end the line or control a terminal are escaped."""
        return REFUSED.sub(lambda character: character[0].encode("unicode_escape").decode(), super().__str__())
