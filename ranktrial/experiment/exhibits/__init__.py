"""Kinds of figures: one module each, found by its name, says which figures an experiment has and what they are made of.

A kind is drawn by `draw` of ranktrial/reports/figures/{name}.py, which planning does not load: its parameters that are
paths are the inputs by which the exhibit names its files, and its `settings` are those of the exhibit. All lists of
figures (outputs, the page, reserved names, Snakemake's report) follow from these modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Protocol, cast

from ranktrial.common import plugins
from ranktrial.common.keys import JsonObject, keys_of
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import FIGURE_FORMATS, path
from ranktrial.experiment.tasks import Named


@dataclass(frozen=True)
class Exhibit:
    """A figure: the files and settings that it is drawn from.

    Its job loads the effects, estimators and intervals of the comparisons `compared` by name.
    """

    inputs: dict[str, list[str]]
    settings: JsonObject
    compared: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A figure in the report: at the end of the section with this anchor, folded below a title if it has one.

    Without a section it stands in one of its kind. `shows` is read to those who do not see the figure.
    """

    caption: str
    shows: str
    section: str = ""
    folded: str = ""


@dataclass(frozen=True, kw_only=True)
class Placed(Shown):
    """A figure in the report, with its name, that of its kind, and the heading of a section of this kind."""

    name: str
    kind: str
    heading: str


class Kind(Protocol):
    """What the module of a kind defines.

    These may be left out: `Keys`, a record with a section of the configuration, and `resolve`, which returns its
    entries by name as the experiment keeps them (`Experiment.exhibits`); `check`, of its names; `asked`, whether its
    figures are made with the other results; `shown`, the place of a figure in the report; ON_PAGE = False, if the
    report has none of its figures.
    """

    NAME: str
    PREFIX: str  # with which the names of its figures begin, and those of no comparison; empty: any name
    DESCRIPTION: str  # of its figures, where a name is refused
    CATEGORY: str  # in Snakemake's report, and the heading where the kind has a section of its own
    CAPTION: str  # in Snakemake's report
    names: Callable[[Experiment], Iterable[str]]  # of its figures
    exhibit: Callable[[Experiment, str], Exhibit]  # of one of these names


PACKAGE = "ranktrial.experiment.exhibits"


@cache
def kinds() -> dict[str, Kind]:
    """Return name -> module of a kind. Raises ValueError if two declare one key, or begin names of figures alike."""
    found = plugins.load_all(PACKAGE)
    owners = dict.fromkeys(keys_of(Configuration), "the configuration")
    for name, kind in found.items():
        for claimed in (f"names {kind.PREFIX}…", *(keys_of(kind.Keys) if hasattr(kind, "Keys") else ())):
            if claimed in owners:
                raise ValueError(f"figures {name}: {claimed!r} belongs to {owners[claimed]}")
            owners[claimed] = f"figures {name}"
    return cast(dict[str, Kind], found)


@cache
def figures(experiment: Experiment) -> dict[str, Kind]:
    """Return the name of each figure of an experiment -> its kind."""
    return {name: kind for kind in kinds().values() for name in kind.names(experiment)}


@cache
def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """Return what a figure is made of."""
    return figures(experiment)[name].exhibit(experiment, name)


def files(experiment: Experiment, formats: tuple[str, ...] = FIGURE_FORMATS, on_page: bool = False) -> list[str]:
    """Return the files of all figures that are made with the other results, or only of those that the report shows."""
    return [
        path("figure", experiment=experiment.name, figure=name, figure_format=one)
        for name, kind in figures(experiment).items()
        if getattr(kind, "ON_PAGE", True) or not on_page
        if getattr(kind, "asked", lambda experiment: True)(experiment)
        for one in formats
    ]


def shown(experiment: Experiment) -> list[JsonObject]:
    """Return the `Placed` of all figures whose kinds say their place; sections of the report show the others."""
    return [
        asdict(kind.shown(experiment, name)) | {"name": name, "kind": kind.NAME, "heading": kind.CATEGORY}
        for name, kind in figures(experiment).items()
        if hasattr(kind, "shown")
    ]


def resolved(named: Named) -> dict[str, Mapping[str, object]]:
    """Return kind -> the entries of its section, resolved. Raises UserError for a mistake in them."""
    return {name: kind.resolve(named) for name, kind in kinds().items() if hasattr(kind, "resolve")}


def check_all(check: Checker, experiment: Experiment) -> None:
    """Raise UserError if figures of a kind cannot have their names."""
    for kind in kinds().values():
        if hasattr(kind, "check"):
            kind.check(check, experiment)


def reserved() -> dict[str, str]:
    """Return the prefixes of the names of figures that no comparison may have -> their description."""
    return {kind.PREFIX: kind.DESCRIPTION for kind in kinds().values() if kind.PREFIX}
