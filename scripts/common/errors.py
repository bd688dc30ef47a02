"""A mistake of the user, told in one line."""

from __future__ import annotations

from scripts.common.characters import REFUSED


class UserError(Exception):
    """A mistake in what the user gave: names the file and line (or key), what is wrong and what would be right."""

    def __str__(self) -> str:
        """One line, whatever names and values it tells of: what would end the line or steer a terminal is spelt."""
        return REFUSED.sub(lambda found: found[0].encode("unicode_escape").decode(), super().__str__())
