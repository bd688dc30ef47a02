"""Every printed cell of a paper's tables beside our number with its place and verdict, or the reason why there is none.

Reads a file of cells and its mapping; writes nothing. ranktrial/experiment/printed_cells.py says what a mapping holds.
"""

from __future__ import annotations

import io
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.common.files import is_number, lines
from ranktrial.common.tables import read_texts
from ranktrial.experiment.printed_cells import ASCENDING, CELL, Line, Mapping, Time
from ranktrial.reports.published_numbers.found import Found
from ranktrial.reports.published_numbers.sizes import size

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
    found = _number(candidate, task, measure, time, ours)
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


def _number(candidate: dict[str, str], task: str, measure: str, time: Time | None, ours: Ours) -> Found | None:
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
