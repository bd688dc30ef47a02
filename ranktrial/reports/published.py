"""Published numbers beside ours, a row per number or, with a mapping, per cell of a paper's tables.

Reads published numbers as text, so that printed digits stay as they are, and a mapping's file of cells
(ranktrial/experiment/printed_cells.py says what a mapping holds); writes nothing. Each printed cell has our number with
its place and verdict, or the reason why there is none. The size of a dataset is that of all splits or of some.

A paper's marks of significance stand beside ours, which are in the matrices of sources and targets
(tables/{matrix}.tsv): # marks pseudo-labels that differ significantly from the baseline, * a transferred model that
differs from pseudo-labels. Ours are doubled where the difference is significant after Holm's correction, too, which no
printed mark says; so a mark is compared by what it is of.
"""

from __future__ import annotations

import io
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.common.files import is_number, lines
from ranktrial.common.tables import read_texts
from ranktrial.experiment.printed_cells import ASCENDING, CELL, Line, Mapping, Time
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.writing.content import (
    Block,
    Column,
    Folded,
    Items,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    bulleted,
    columns,
)


@dataclass(frozen=True)
class Found:
    """Our number for a cell with its sd and its place; without a number, the reason."""

    value: float | None = None
    sd: float | None = None
    runs: int | None = None
    place: dict[str, str] = field(default_factory=dict)
    reason: str = ""


OF_ALL_SPLITS = "documents"  # each split's row has the number of the whole dataset


def size(line: Line, columns: list[str], datasets: pd.DataFrame, mapping: Mapping) -> Found:
    """The sum of the columns over the datasets or splits that `line` names; or the reason why there is none.

    Raises UserError for a column that the table lacks.
    """
    if not line.ours:
        return Found(reason=line.text)
    if unknown := [column for column in columns if column not in datasets]:
        raise UserError(f"{mapping.path}: counts: the table of datasets has no column {unknown[0]!r}")
    total = 0.0
    for place in line.ours:
        dataset, _, split = place.partition("/")
        rows = datasets[[name == dataset and split in ("", of) for name, of in datasets.index]]
        if rows.empty:
            return Found(reason=f"the dataset {place} is not in this experiment")
        total += sum(_count(rows[column]) for column in columns)
    return Found(total, place={"our_task": ", ".join(line.ours), "our_measure": " + ".join(columns)})


def _count(column: pd.Series) -> float:
    """The sum over splits, in which what is not counted is 0; documents are those of the dataset."""
    return float(column.iloc[0] if column.name == OF_ALL_SPLITS else column.fillna(0).sum())


EQUAL, SPREAD, DIFFERENT, NOT_RUN = "equal", "inside the seeds' spread", "different", "not run"
MACHINE = "different machine"  # times: not a result that another machine could repeat
VERDICTS = (EQUAL, SPREAD, DIFFERENT, MACHINE, NOT_RUN)
BETWEEN = " | "  # two remarks
WIDTH = 2  # standard deviations that count as the seeds' spread
_NOISE = 12  # decimals beyond which a mean holds rounding errors of binary fractions


@dataclass(frozen=True)
class Ours:
    """The results of this experiment: `entries` of the configuration (systems with weights, model and recipe), `tasks`.

    `means`, `inference` and `fine_tuning` are the tables of these names, indexed by (task, system), (task, system) and
    (model, recipe). `importances` are the tables of importance of each ranker, one per seed, indexed by feature.
    `ascending` are means with documents of equal score by ascending id, for the measures that are printed so.
    `datasets` is the table of this name, indexed by (dataset, split).
    """

    entries: dict[str, list[dict]]
    tasks: dict[str, str]
    means: pd.DataFrame
    inference: pd.DataFrame
    fine_tuning: pd.DataFrame
    importances: dict[str, list[pd.DataFrame]] = field(default_factory=dict)
    ascending: pd.DataFrame = field(default_factory=pd.DataFrame)
    datasets: pd.DataFrame = field(default_factory=pd.DataFrame)


def read_cells(path: Path) -> list[dict[str, str]]:
    """The cells of a file, all as text, without lines that begin with #. UserError for a duplicate cell."""
    numbered_lines = [(number, line) for number, line in lines(path) if not line.startswith("#")]
    table = read_texts(io.StringIO("\n".join(line for _, line in numbered_lines)))
    if missing := [column for column in (*CELL, "value", "std") if column not in table]:
        raise UserError(f"{path}: no column {missing[0]!r}; expected {', '.join((*CELL, 'value', 'std'))}")
    seen: dict[tuple, int] = {}
    cells = table.to_dict("records")
    for (number, _), cell in zip(numbered_lines[1:], cells, strict=True):
        if not is_number(cell["value"]) or (cell["std"] and not is_number(cell["std"])):
            raise UserError(f"{path}:{number}: value {cell['value']!r} or std {cell['std']!r} is not a number")
        key = tuple(cell[name] for name in CELL)
        if key in seen:
            raise UserError(f"{path}:{number}: duplicate cell {name_of(cell)}, first in line {seen[key]}")
        seen[key] = number
    return cells


def name_of(cell: dict[str, str]) -> str:
    """A cell in words."""
    return ", ".join(cell[name] for name in CELL if cell[name])


def lookup(cell: dict[str, str], line: Line, mapping: Mapping, ours: Ours, total: float = 1) -> Found:
    """Our number for a cell about which `line` of the mapping says which systems it means.

    An importance is the feature's share of our ranker's gain, of `total`: the sum of what is printed for all features.
    Raises UserError if the mapping lacks a word of the cell, or means two systems.
    """
    if cell["measure"] in mapping.counts:
        return size(line, mapping.counts[cell["measure"]], ours.datasets, mapping)
    if feature := mapping.features.get(cell["variant"]):
        candidate = _meant(cell, line, mapping, ours)
        return candidate if isinstance(candidate, Found) else _importance(candidate["system"], feature, total, ours)
    time = mapping.time(cell)
    measure = time.shown if time else measure_name(cell, mapping)
    if cell["variant"] not in mapping.tasks:
        raise UserError(f"{mapping.path}: tasks: no entry for the variant of {name_of(cell)}")
    task = mapping.tasks[cell["variant"]]
    if line.ours and measure != "fine-tuning" and task not in ours.tasks:
        return Found(reason=f"the task {task} is not in this experiment")
    candidate = _meant(cell, line, mapping, ours)
    if isinstance(candidate, Found):
        return candidate
    ascending = not time and mapping.is_ascending(measure)
    if ascending:
        ours = replace(ours, means=ours.ascending)
    found = _found_number(candidate, task, measure, time, ours)
    if not found:
        return Found(reason=_missing(" or ".join(line.ours), task, measure, time, ours))
    return replace(found, place=found.place | {"our_measure": f"{measure}, ties {ASCENDING}"}) if ascending else found


def _meant(cell: dict[str, str], line: Line, mapping: Mapping, ours: Ours) -> dict[str, str] | Found:
    """Our system that a cell means, or why there is none. Raises UserError if there are two."""
    if not line.ours:
        return Found(reason=line.text)
    listed = [candidate for entry in line.ours for candidate in ours.entries.get(entry, [])]
    meant = " or ".join(line.ours)
    if not listed:
        return Found(reason=f"no system {meant} in this experiment")
    weights = mapping.models.get(cell["system"], [cell["system"]])
    fitting = [candidate for candidate in listed if candidate["weights"] in ("", *weights)]
    if len(fitting) > 1:
        names = " and ".join(candidate["system"] for candidate in fitting)
        raise UserError(f"{mapping.path}: systems, line {line.number}: {name_of(cell)} matches both {names}")
    if not fitting:
        return Found(reason=f"{cell['system']} is not among the models of {meant} in this experiment")
    return fitting[0]


def measure_name(cell: dict[str, str], mapping: Mapping) -> str:
    """Our name of a cell's measure at its cut-off. Raises UserError if the mapping has none."""
    names = mapping.measures.get(cell["measure"], {})
    key = "all" if cell["cutoff"] == "all" else "at"
    if key not in names:
        raise UserError(f"{mapping.path}: measures: no entry for {cell['measure']} ({key}) of {name_of(cell)}")
    return names[key] if key == "all" else f"{names[key]}@{cell['cutoff']}"


def _importance(system: str, feature: str, total: float, ours: Ours) -> Found:
    """A feature's share of the gain, of `total`: mean and sd over the seeds of a ranker."""
    shares = [float(table["gain"].get(feature, math.nan)) for table in ours.importances.get(system, [])]
    if not shares or math.isnan(sum(shares)):
        return Found(reason=f"{system} has no gain by {feature} in this experiment")
    scaled = pd.Series(shares) * total
    place = {"our_system": system, "our_measure": f"share of the gain by {feature}"}
    return Found(float(scaled.mean()), float(scaled.std()) if len(shares) > 1 else None, len(shares), place)


def _missing(meant: str, task: str, measure: str, time: Time | None, ours: Ours) -> str:
    """The reason why a system of this experiment has no number."""
    if time and time.shown == "fine-tuning":
        return f"{meant} was not trained in this experiment"
    if time is None and measure not in ours.means:
        return f"{measure} is not among the measures of this experiment"
    return f"{meant} is not run on {task} in this experiment"


def _found_number(candidate: dict[str, str], task: str, measure: str, time: Time | None, ours: Ours) -> Found | None:
    system, folder = candidate["system"], ours.tasks.get(task, "")
    if time and time.shown == "fine-tuning":
        table, key, columns = ours.fine_tuning, (candidate["model"], candidate["recipe"]), ("mean", "sd", "runs")
    elif time:
        table, key, columns = ours.inference, (folder, system), ("mean", "sd", "runs")
    else:
        table, key, columns = ours.means, (folder, system), (measure, f"{measure} sd", "seeds")
    if key not in table.index or columns[0] not in table or pd.isna(table.loc[key, columns[0]]):
        return None
    value, sd, runs = table.loc[key, list(columns)]
    place = {"our_task": task, "our_system": system, "our_measure": measure}
    unit = time.unit if time else 1
    return Found(float(value) / unit, None if pd.isna(sd) else float(sd) / unit, int(runs), place)


def verdict(value: float, sd: float | None, printed: str, printed_sd: str) -> str:
    """The verdict on our number beside a printed one.

    `equal`: the same when rounded to the printed digits, halves away from zero. `inside the seeds' spread`: not further
    from it than two standard deviations over seeds, the printed one or, where none is printed, ours. Else `different`.
    """
    exact = Decimal(repr(round(value, _NOISE)))
    if rounded(value, printed) == printed:
        return EQUAL
    spread = Decimal(0)
    if printed_sd:
        spread = Decimal(printed_sd)
    elif sd is not None:
        spread = Decimal(repr(sd))
    return SPREAD if abs(exact - Decimal(printed)) <= WIDTH * spread else DIFFERENT


def rounded(value: float, printed: str) -> str:
    """A number with the decimals of a printed one, halves away from zero."""
    decimals = Decimal(1).scaleb(-len(printed.partition(".")[2]))
    return str(Decimal(repr(round(value, _NOISE))).quantize(decimals, ROUND_HALF_UP))


def first_fitting(cell: dict[str, str], mapping: Mapping) -> Line:
    """The line of the mapping's datasets or systems that a cell comes to. Raises UserError if there is none."""
    section = "datasets" if cell["measure"] in mapping.counts else "systems"
    for line in mapping.datasets if section == "datasets" else mapping.systems:
        if line.fits(cell):
            return line
    raise UserError(f"{mapping.path}: {section}: no line matches {name_of(cell)}")


def check_used(section: str, all_lines: list[Line], used: Iterable[Line], mapping: Mapping) -> None:
    """Raise UserError for a line that no cell comes to: a word in it is wrong, or an earlier line takes its cells."""
    known = set(map(id, used))
    for line in all_lines:
        if id(line) not in known:
            raise UserError(f"{mapping.path}: {section}, line {line.number}: no cell matches it")


def _one_model(cell: dict[str, str]) -> tuple[str, ...]:
    return tuple(cell[key] for key in ("table", "system", "training", "measure", "cutoff"))


def versus(cells: list[dict[str, str]], mapping: Mapping, ours: Ours) -> pd.DataFrame:
    """One row per cell: the printed number, ours, their difference (times: ratio), verdict, reason and remarks."""
    chosen = [first_fitting(cell, mapping) for cell in cells]
    for section, all_lines in (("datasets", mapping.datasets), ("systems", mapping.systems)):
        check_used(section, all_lines, chosen, mapping)
    remarks_of = [[line for line in mapping.remarks if line.fits(cell)] for cell in cells]
    check_used("remarks", mapping.remarks, [line for of_cell in remarks_of for line in of_cell], mapping)
    totals: dict[tuple[str, ...], float] = defaultdict(float)
    for cell in cells:
        totals[_one_model(cell)] += float(cell["value"])
    rows = []
    for cell, line, remarks in zip(cells, chosen, remarks_of, strict=True):
        our_number, time = lookup(cell, line, mapping, ours, totals[_one_model(cell)]), mapping.time(cell)
        row = {key: cell[key] for key in CELL} | {"published": cell["value"], "published_sd": cell["std"]}
        row |= dict.fromkeys(("ours", "ours_sd", "ours_in_full", "seeds", "difference", "ratio"))
        notes = BETWEEN.join(dict.fromkeys(remark.text for remark in remarks))
        row |= {"verdict": NOT_RUN, "reason": our_number.reason, "remarks": notes}
        row |= dict.fromkeys(("our_task", "our_system", "our_measure"), "") | our_number.place
        if our_number.value is not None:
            row |= {
                "ours": rounded(our_number.value, cell["value"]),
                "ours_in_full": our_number.value,
                "seeds": our_number.runs,
            }
            row["ours_sd"] = None if our_number.sd is None else rounded(our_number.sd, cell["value"])
            if time:
                row |= {"ratio": our_number.value / float(cell["value"]), "verdict": MACHINE}
            else:
                row["difference"] = round(our_number.value - float(cell["value"]), _NOISE)
                row["verdict"] = verdict(our_number.value, our_number.sd, cell["value"], cell["std"])
        rows.append(row)
    return pd.DataFrame(rows).astype({"seeds": "Int64"})


FAULT = "a fault: the texts are the same, so the score should be, too; queries or judgements may differ"
RULES = {
    EQUAL: "ours, rounded to the printed digits (halves away from zero), equals the printed number",
    SPREAD: f"within {WIDTH} standard deviations over seeds of the printed number: the printed standard deviation "
    f"or, if "
    "none is printed, ours",
    DIFFERENT: "further away, or the spread over seeds is unknown",
    MACHINE: "times, which cannot be reproduced on another machine; compare the ratio of ours to theirs, and the "
    "ratios "
    "between models",
    NOT_RUN: "this experiment has no such number; the reason is given beside it",
}
_NUMBERS = [
    *columns(["table", "row", "column", "published", "ours"], words=3),
    *(
        Column("equal"),
        Column("mark"),
        Column("our mark"),
        Column("marks equal"),
        Column("comparison"),
        Column("beside", "r"),
        Column("note"),
        Column("not rounded", "r"),
    ),
]
_CELLS = [
    *columns(["table", "variant", "system", "training", "measure", "published", "ours", "difference"], words=5),
    *columns(["verdict", "reason"], words=2),
]


def published(table: pd.DataFrame) -> Section:
    """How many published numbers are reproduced, and all of them."""
    blocks: list[Block] = [Paragraph(f"{counts(table)}.")]
    if numbers := content(table, together=True):
        blocks.append(Folded(f"All {len(table)} numbers", numbers, "published-versus-ours.md"))
    return Section("Published numbers", blocks, anchor="published")


def counts(table: pd.DataFrame) -> str:
    """How many published numbers are reproduced."""
    if "verdict" in table:
        verdicts = Counter(table["verdict"]).items()
        return f"Of {len(table)} published numbers: {', '.join(f'{count} {verdict}' for verdict, count in verdicts)}"
    if table.empty:
        return "No published number belongs to a task of this experiment"
    equal = (table["equal"] == "yes").sum()
    said = f"{equal} of {len(table)} published numbers are reproduced to their last digit"
    faults = [f"{row['row']} {row['column']}" for row in table.to_dict("records") if row["note"] == FAULT]
    if faults:
        said += f"; {len(faults)} differ although the texts are the same: {'; '.join(faults)}"
    tested = table[table["marks_equal"] != ""] if "marks_equal" in table else table[:0]
    agreeing = (tested["marks_equal"] == "yes").sum() if len(tested) else 0
    marks = f"; {agreeing} of {len(tested)} marks of significance, or their absence, agree" if len(tested) else ""
    return said + marks


def content(table: pd.DataFrame, together: bool) -> list[Block]:
    """An explanation of the numbers, then all of them; nothing if there are none.

    `together`: in one table, for a page that sorts and filters; else in a table for each of the paper's.
    """
    if table.empty:
        return []
    records = table.to_dict("records")
    if "verdict" in table:
        numbers = remark_numbers(row["remarks"] for row in records)
        blocks, heads, rows = _about_cells(table, numbers), _CELLS, [_cell(row, numbers) for row in records]
    else:
        blocks, heads, rows = _about_numbers(records), _NUMBERS, [_number_row(row) for row in records]
    if together:
        return [*blocks, _filled(heads, rows)]
    apart = {name: [row for row in rows if row[0] == name] for name in table["table"].unique()}
    return [*blocks, *(Section(name, [_filled(heads[1:], [row[1:] for row in own])]) for name, own in apart.items())]


def _filled(heads: Sequence[Column], rows: Sequence[Row]) -> Table:
    """A table without the columns that are empty."""
    kept = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    return Table([heads[place] for place in kept], [[[row[place] for place in kept] for row in rows]])


def _about_numbers(records: list[dict[str, str]]) -> list[Block]:
    pairs = sorted({(row["comparison"], row["beside_comparison"]) for row in records if row["beside_comparison"]})
    replaced = ", ".join(f"{second} for {ours}" for ours, second in pairs)
    said = f"The second column has the number of another comparison, to the same digits: {replaced}."
    return [Paragraph(said)] if pairs else []


def _number_row(row: dict[str, str]) -> Row:
    names = ("table", "row", "column", "published", "ours")
    equal = row["equal"] == "yes"
    verdict = Span(row["equal"], "" if equal else "strong")
    of_marks = row.get("marks_equal", "")
    marks = (row.get("mark", ""), row.get("our_mark", ""), Span(of_marks, "strong") if of_marks == "no" else of_marks)
    further = (row["comparison"], row["beside"], row["note"], "" if equal else row["ours_in_full"])
    return [*(row[name] for name in names), verdict, *marks, *further]


def _about_cells(table: pd.DataFrame, numbers: dict[str, int]) -> list[Block]:
    """The counts, the meaning of the verdicts, why cells were not run, and remarks."""
    reasons = Counter(table.loc[table["verdict"] == NOT_RUN, "reason"]).most_common()
    not_run = [f"{count}: {reason}" for reason, count in reasons]
    remarks = [f"[{number}] {remark}" for remark, number in numbers.items()]
    further = {"Not run": not_run, "Remarks": remarks}
    return [
        counts_table(table),
        Items([(Span(name, "strong"), f": {rule}.") for name, rule in RULES.items()]),
        *(Section(title, bulleted(lines)) for title, lines in further.items() if lines),
    ]


def counts_table(table: pd.DataFrame) -> Table:
    """How many cells of each table, and of all, have each verdict."""
    parts = {**{str(name): part for name, part in table.groupby("table", sort=False)}, "all": table}
    counted = {name: Counter(part["verdict"]) for name, part in parts.items()}
    rows = [
        [name, *(str(verdicts[verdict]) for verdict in VERDICTS), str(verdicts.total())]
        for name, verdicts in counted.items()
    ]
    return Table(columns(["table", *VERDICTS, "cells"]), [rows[:-1]], foot=rows[-1:])


def remark_numbers(remarks: Iterable[str]) -> dict[str, int]:
    """The remarks that cells have, numbered."""
    found = dict.fromkeys(remark for of_cell in remarks for remark in of_cell.split(BETWEEN) if remark)
    return {remark: number for number, remark in enumerate(found, 1)}


def _cell(row: dict[str, str], numbers: dict[str, int]) -> Row:
    """Printed and ours with their spread, difference or ratio, verdict with its remarks, reason."""
    measure = row["measure"] + (f"@{row['cutoff']}" if row["cutoff"] else "")
    both = [row[of] + (f" ± {row[f'{of}_sd']}" if row[f"{of}_sd"] else "") for of in ("published", "ours")]
    remarks = "".join(f" [{numbers[remark]}]" for remark in row["remarks"].split(BETWEEN) if remark)
    verdict = (Span(row["verdict"], "strong" if row["verdict"] == DIFFERENT else ""), remarks)
    place = [row[name] for name in ("table", "variant", "system", "training")]
    return [*place, measure, *both, _difference(row), verdict, row["reason"]]


def _difference(row: dict[str, str]) -> str:
    if row["ratio"]:
        return f"ratio {float(row['ratio']):.3g}"
    if not row["difference"]:
        return ""
    difference = float(row["difference"])
    text = form.fixed(difference, len(row["published"].partition(".")[2]) + 1)
    return f"+{text}" if difference > 0 else text


TESTED = {"source": "pseudo-labels_p_value", "pseudo-labels": "baseline_p_value"}  # the kind of a cell: its test
PRINTED = ("", "*", "#")
NOT_TESTED = "not tested"
Marks = dict[tuple[str, str], str]  # task, system: the mark, empty if a test found no difference


def marks(matrices: Iterable[pd.DataFrame]) -> Marks:
    """The mark of each cell that is tested; of a cell in several matrices, that in the first."""
    found: Marks = {}
    for table in matrices:
        for row in table.to_dict("records"):
            if pd.notna(row.get(TESTED.get(row["kind"], ""))):
                found.setdefault((row["target"], row["system"]), row["mark"] if pd.notna(row["mark"]) else "")
    return found


def compared(row: dict[str, str], ours: Marks) -> dict[str, str]:
    """A printed mark, ours, and whether both mark a difference; empty if there is nothing to compare."""
    printed, own = row.get("mark", ""), ours.get((row["task"], row["system"]))
    if own is None:
        return {"mark": printed, "our_mark": NOT_TESTED if printed else "", "marks_equal": ""}
    return {"mark": printed, "our_mark": own, "marks_equal": "yes" if own[:1] == printed else "no"}
