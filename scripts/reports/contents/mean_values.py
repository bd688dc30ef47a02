"""The cells of tables of means: a mean with its spread between seeds and its marks, the best of a line bold.

Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scripts.reports.comparison.number_text import fixed
from scripts.reports.writing.content import Span, Text


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

    def text(self, best: str) -> Text:
        """The cell: bold where its number is the best of its column."""
        spread = "" if self.sd is None else f" ± {fixed(self.sd, 3)}"
        shown = Span(f"{self.number}{spread}{self.star}", "strong" if self.number == best else "")
        return (shown, Span(f" {self.letters}", "raised")) if self.letters else shown


def best_of(values: Iterable[Value], measure: str, lower_is_better: bool = False) -> str:
    """The best number as it is printed; none if there is one alone, or if no value of the measure is better."""
    several = list(values)
    if len(several) < 2 or measure.startswith("Judged@"):
        return ""
    return (min if lower_is_better else max)(several, key=lambda value: value.mean).number
