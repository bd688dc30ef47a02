"""Common parts of the checks of a configuration: error messages, and lookup of names in other sections."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar

from ranktrial.common.errors import UserError
from ranktrial.common.wording import hint
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.ir.measure_names import by_subtopic, follows_instructions
from ranktrial.ir.measures import check_computable

Own = TypeVar("Own")
NO_ORIGINS: Mapping[tuple[str, str], str] = MappingProxyType({})


class Source:
    """The name of the configuration file, with which each message begins."""

    def __init__(self, source: str) -> None:
        self.source = source

    def fail(self, key: str, problem: str) -> UserError:
        """Return the error about `key`, to be raised."""
        return UserError(f"{self.source}: {key}: {problem}")

    def refuse_alien(self, key: str, what: str, given: Iterable[str], own: Container[str], where: str = "") -> None:
        """Raise UserError if an entry of the kind `what` is given keys that are not its own, but of other kinds."""
        if alien := sorted(name for name in given if name not in own):
            raise self.fail(key, f"{what} cannot have {', '.join(map(repr, alien))}{where}")


class Checker(Source):
    """A configuration with its defaults, its file name and the names of fanned-out entries in the file."""

    def __init__(self, config: Configuration, source: str, origins: Mapping[tuple[str, str], str] = NO_ORIGINS) -> None:
        super().__init__(source)
        self.config = config
        self.origins = origins

    def own(self, record: type[Own]) -> Own:
        """Return the configuration as one with the keys that a plug-in declares in this record."""
        assert isinstance(self.config, record)
        return self.config

    def fail(self, key: str, problem: str) -> UserError:
        """Return the error about `key`, to be raised; the key of a fanned-out entry is that of the file."""
        return super().fail(self._in_file(key), problem)

    def _in_file(self, key: str) -> str:
        fitting = {
            f"{section}.{derived}": f"{section}.{name}"
            for (section, derived), name in self.origins.items()
            if derived != name and f"{key}.".startswith(f"{section}.{derived}.")
        }
        if not fitting:
            return key
        derived = max(fitting, key=len)
        return f"{fitting[derived]}{key.removeprefix(derived)} (in {derived.split('.', 1)[1]})"

    def computable(self, key: str, measure: str, of_one_run: bool = True) -> None:
        """Raise UserError unless ir-measures knows the measure and it can be computed here.

        With `of_one_run`, it must be computable from one run and judgements of documents.
        """
        try:
            check_computable(measure)
            if of_one_run and (by_subtopic(measure) or follows_instructions(measure)):
                needs = "judgements by subtopic" if by_subtopic(measure) else "the rankings of two tasks"
                raise UserError(f"measure {measure!r} needs {needs}, so only `measures` may name it")
        except UserError as error:
            raise self.fail(key, str(error)) from None

    def known(self, key: str, name: str, section: str) -> None:
        """Raise UserError unless the section has an entry of this name."""
        names = getattr(self.config, section)
        if name not in names:
            of_entries: dict[str, list[str]] = {}
            for one in map(str, names):
                of_entries.setdefault(self.origins.get((section, one), one), []).append(one)
            has = ", ".join(one if made == [one] else f"{one} ({', '.join(made)})" for one, made in of_entries.items())
            meant = hint(name, dict.fromkeys([*map(str, names), *of_entries]))
            raise self.fail(key, f"unknown name {name!r}{meant}; {section} has {has or 'none'}")
