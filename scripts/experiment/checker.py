"""What the checks of a configuration share: how a mistake is said, and looking a name up in another section."""

from __future__ import annotations

from scripts.common.errors import UserError
from scripts.common.near_names import hint
from scripts.experiment.sections.configuration import Configuration
from scripts.ir.measures import check_computable


class Source:
    """The name of a configuration's file, with which each message begins."""

    def __init__(self, source: str) -> None:
        self.source = source

    def fail(self, key: str, problem: str) -> UserError:
        """The error that `key` has, to be raised."""
        return UserError(f"{self.source}: {key}: {problem}")


class Checker(Source):
    """A completed configuration, and where it is from."""

    def __init__(self, config: Configuration, source: str) -> None:
        super().__init__(source)
        self.config = config

    def computable(self, key: str, measure: str) -> None:
        """Raise UserError unless ir-measures knows the measure and it can be computed here."""
        try:
            check_computable(measure)
        except UserError as error:
            raise self.fail(key, str(error)) from None

    def known(self, key: str, name: str, section: str) -> None:
        """Raise UserError unless the section has the name."""
        names = getattr(self.config, section)
        if name not in names:
            has = f"{section} has {', '.join(map(str, names)) or 'none'}"
            raise self.fail(key, f"unknown name {name!r}{hint(name, map(str, names))}; {has}")
