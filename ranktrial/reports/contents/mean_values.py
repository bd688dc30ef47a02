"""The cells of tables of means: a mean with its spread between seeds and its marks, and which are bold.

Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ranktrial.reports.comparison.families import FoundFamily
from ranktrial.reports.comparison.number_text import fixed
from ranktrial.reports.writing.content import Span, Text


@dataclass(frozen=True)
class Value:
    """The mean of a system on a task (or over all), its standard deviation between seeds, and the marks behind it."""

    mean: float
    sd: float | None = None
    star: str = ""
    letters: str = ""

    @property
    def number(self) -> str:
        """The mean as it is printed."""
        return fixed(self.mean, 3)

    def text(self, bold: bool) -> Text:
        """The cell."""
        spread = "" if self.sd is None else f" ± {fixed(self.sd, 3)}"
        shown = Span(f"{self.number}{spread}{self.star}", "strong" if bold else "")
        return (shown, Span(f" {self.letters}", "raised")) if self.letters else shown


def in_bold(
    values: Mapping[str, Value], measure: str, lower_is_better: bool, tested: FoundFamily | None, task: str
) -> set[str]:
    """The systems in bold, by label: the best, and those that do not differ significantly from it where all pairs of
    these systems were tested; none if there is one alone, or if no value of the measure is better.
    """
    if len(values) < 2 or measure.startswith("Judged@"):
        return set()
    if tested and (unbeaten := tested.unbeaten(task, values)):
        return unbeaten
    best = (min if lower_is_better else max)(values.values(), key=lambda value: value.mean).number
    return {system for system, value in values.items() if value.number == best}
