"""What a comparison found: its sentence, numbers, forest plot, tables, and a page; by the code of the workflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ranktrial.api import files
from ranktrial.api.found import FAMILY, LABELS, Parts, with_adjustments
from ranktrial.api.methods import Methods, check_bounds
from ranktrial.api.scored import Scored
from ranktrial.common.errors import UserError
from ranktrial.common.extras import names_extras
from ranktrial.common.keys import keys_of, plain
from ranktrial.common.settings import read_settings
from ranktrial.common.wording import hint
from ranktrial.configuration.sections.comparison import Figure as FigureKeys
from ranktrial.records.comparison import FamilyRecord, without_missing
from ranktrial.reports.comparison import families as family_text
from ranktrial.reports.comparison.families import found_family
from ranktrial.reports.comparison.reading import Forest, Looks
from ranktrial.reports.comparison.sentence import sentence
from ranktrial.reports.comparison.table import content, dependences, family_content, in_full
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Block
from ranktrial.synthesis.one_comparison import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOT_ASKED = ("together", "axis", "influence", "queries", "font")  # of a figure: what the workflow alone has
Places = str | Path | None


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Parts):
    """Comparisons with one control by name, or a multiple comparison, or both; `compare` makes them.

    Attributes:
        effects: the table of all comparisons, one row per task, with the columns of effects/{comparison}.tsv
            (docs/results.md).
        summary: one row per comparison: means, their intervals and p-values, heterogeneity.
        differences: of a multiple comparison, one row per task (and over tasks) and pair of systems; None without one.
    """

    @classmethod
    def of(
        cls,
        scored: Scored,
        results: Sequence[Results],
        family: tuple[pd.DataFrame, FamilyRecord] | None,
        method: Methods,
        stated: Mapping[str, Any],
    ) -> Findings:
        """The findings of comparisons, and of a multiple comparison if there is one."""
        comparisons, table = with_adjustments(results)
        tested = found_family(*family, LABELS) if family else None
        rows = without_missing(family[0]) if family else None
        lower = method.lower_is_better
        return cls(scored.measure, comparisons, method.looks, table, tested, rows, scored, stated, lower)

    @classmethod
    def alone(cls, result: Results, looks: Looks, lower_is_better: bool, stated: Mapping[str, Any]) -> Findings:
        """The findings of one comparison without values per query."""
        comparisons, table = with_adjustments([result])
        return cls(result.meta.measure, comparisons, looks, table, stated=stated, lower_is_better=lower_is_better)

    @property
    def warnings(self) -> list[str]:
        """What qualifies the numbers (queries left out, few queries …), as text."""
        of_comparisons = [warning for found in self.comparisons.values() for warning in found.meta.warnings]
        return list(dict.fromkeys([*of_comparisons, *(self.family.record.warnings if self.family else ())]))

    def sentence(self) -> str:
        """What is found, for a paper: a paragraph per comparison, and one of the multiple comparison."""
        said = [sentence(found.meta, self.as_table(found)) for found in self.comparisons.values()]
        return "\n\n".join([*said, *([family_text.sentence(self.family)] if self.family else [])])

    def __repr__(self) -> str:
        return self.sentence()

    @names_extras()
    def forest_plot(self, path: Places = None, **looks: Any) -> Figure:
        """The forest plot of all comparisons with the control, which Jupyter shows.

        Args:
            path: where to write it (.pdf, .svg or .png).
            **looks: keys of a comparison's `figure` in a configuration: title, width ("single column", "double column"
                or inches), height, sort, columns, digits, p, correction, notes … (docs/configuration.md).

        Raises:
            UserError: for an unknown key, another ending, and where all pairs were compared, which have no forest plot.
        """
        from ranktrial.reports.figures.forest import forest_plot

        return files.saved(forest_plot(self.plot(**looks)), path)

    def plot(self, **looks: Any) -> Forest:
        """What the forest plot shows, as plain data."""
        if not self.comparisons:
            raise UserError("all pairs of systems have no forest plot: name a control, or draw diagram()")
        return Forest(tuple(self.comparisons.values()), self._shown(looks), self.facts)

    def _shown(self, looks: Mapping[str, Any]) -> Looks:
        known = {name for name in keys_of(FigureKeys) if name not in NOT_ASKED}
        if unknown := [name for name in looks if name not in known]:
            near = hint(unknown[0], known)
            raise UserError(f"forest_plot: unknown key {unknown[0]!r}{near}; expected {', '.join(sorted(known))}")
        chosen = read_settings(FigureKeys, dict(looks), "forest_plot")
        check_bounds(chosen, "forest_plot")
        return replace(self.looks, **{name: getattr(chosen, name) for name in looks})

    @names_extras()
    def diagram(self, path: Places = None, title: str = "") -> Figure:
        """The diagram of a multiple comparison: systems by their means, bars join those without a significant
        difference. Written to `path` (.pdf, .svg or .png) if there is one.

        Raises:
            UserError: if only two systems were compared.
        """
        from ranktrial.reports.figures.family import diagram, filled

        if self.family is None:
            raise UserError("two systems have no diagram; draw forest_plot()")
        return files.saved(diagram(filled(self.family, title)), path)

    def table(self, path: Places = None) -> str:
        """All tables as LaTeX (booktabs), Markdown, or tab-separated values at full precision, by the ending of `path`
        (.tex, .md, .tsv); without one, as Markdown. Returns the text.
        """
        ending = files.ending(path, files.TABLES) if path is not None else ".md"
        made = {".tex": self._latex, ".md": self._markdown, ".tsv": self._values}[ending]()
        files.save_text(made, path)
        return made

    def _contents(self) -> list[tuple[str, list[Block]]]:
        found = [(name, content(one, self.as_table(one))) for name, one in self.comparisons.items()]
        return [*found, *([(FAMILY, family_content(self.family))] if self.family else [])]

    def _latex(self) -> str:
        return "\n".join(printed.latex_document(name, blocks) for name, blocks in self._contents())

    def _markdown(self) -> str:
        further: dict[str, list[Block]] = {
            name: dependences(one.meta, self.as_table(one), LABELS) for name, one in self.comparisons.items()
        }
        pages = [
            printed.markdown_document(self.heading(name), [*blocks, *further.get(name, [])])
            for name, blocks in self._contents()
        ]
        return "\n".join(pages)

    def _values(self) -> str:
        tables = [in_full(one, LABELS).assign(comparison=name) for name, one in self.comparisons.items()]
        table = pd.concat(tables, ignore_index=True) if tables else self.differences
        assert table is not None  # there are comparisons or a family
        text: str = table.to_csv(sep="\t", index=False)
        return text

    def numbers(self) -> dict[str, Any]:
        """All numbers as plain values, such as JSON has: the sentence, and each comparison's effects and record (the
        fields of meta/{comparison}.json, docs/results.md).
        """
        found: dict[str, Any] = {"sentence": self.sentence(), "warnings": self.warnings, "measure": self.measure}
        found["comparisons"] = {
            name: {"effects": [dict(vars(row)) for row in one.effects], **plain(one.meta)}
            for name, one in self.comparisons.items()
        }
        if self.family is not None and self.differences is not None:
            found["multiple_comparison"] = {
                **plain(self.family.record),
                "differences": self.differences.to_dict("records"),
            }
        return found

    @names_extras()
    def report(self, path: str | Path, title: str = "", queries: Any = None, documents: Any = None) -> None:
        """Write one HTML page that needs no network: answers, figures, tables, means.

        Where values per query were compared, it leads to the explorer in the folder `{name}-explorer` beside it: each
        query, its values and, of runs, the documents that both systems rank. The page may be sent without it.

        Args:
            path: of the page (.html).
            title: of the page; by default the systems.
            queries: their texts, for the explorer: a file (JSON lines with _id and text), `{query: text}` or a
                DataFrame of ir_datasets or PyTerrier; also by task. Without them, it shows ids.
            documents: likewise.
        """
        from ranktrial.api.explorer import Texts
        from ranktrial.api.page import write_page

        files.ending(path, files.PAGES)
        write_page(self, Path(path), title, Texts(queries, documents))

    @names_extras()
    def write(self, folder: str | Path, title: str = "", queries: Any = None, documents: Any = None) -> list[Path]:
        """Write everything to a folder: report.html and what it links to, the explorer (with the texts that `report`
        takes), figures as PDF, SVG and PNG, tables in TSV, Markdown and LaTeX, effects and records at full precision.
        Returns the files.
        """
        from ranktrial.api.explorer import Texts
        from ranktrial.api.page import write

        if Path(folder).exists() and not Path(folder).is_dir():
            raise UserError(f"{folder}: a file; expected a folder")
        return write(self, Path(folder), title, Texts(queries, documents))
