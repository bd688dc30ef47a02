"""What the checks of a configuration share: how a mistake is said, and looking a name up in another section."""

from __future__ import annotations

from typing import Any

from scripts.common.errors import UserError
from scripts.ir.measures import check_computable


class Checker:
    """A completed configuration and the name of its file, with which each message begins."""

    def __init__(self, config: dict[str, Any], source: str) -> None:
        self.config, self.source = config, source

    def fail(self, key: str, problem: str) -> UserError:
        """The error that `key` has, to be raised."""
        return UserError(f"{self.source}: {key}: {problem}")

    def computable(self, key: str, measure: str) -> None:
        """Raise UserError unless ir-measures knows the measure and it can be computed here."""
        try:
            check_computable(measure)
        except UserError as error:
            raise self.fail(key, str(error)) from None

    def known(self, key: str, name: str, section: str) -> None:
        """Raise UserError unless the section has the name."""
        names = self.config[section]
        if name not in names:
            raise self.fail(key, f"unknown name {name!r}; {section} has {', '.join(map(str, names)) or 'none'}")
