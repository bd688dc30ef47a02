"""Compare two archives of an experiment: which inputs differ, and how far effects moved.

Reads both archives. Writes to the folder --out: comparison.md; effects.tsv and reproduced-effects.tsv (a row per
comparison and task), rankings.tsv (a row per run), scores.tsv (a row per run and measure), inputs.tsv (a row per
difference in configuration, data, sources, packages or machine) and, for each comparison of mean differences, a forest
plot of effect B minus effect A.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import tempfile
from dataclasses import asdict, fields
from pathlib import Path

from ranktrial.archive.differences import (
    Difference,
    Moved,
    Repeated,
    RepeatedEffect,
    RepeatedRun,
    RepeatedScores,
    Side,
    cell,
    compared,
    differences,
    repeated,
    reproduced,
    shared_comparisons,
    shown_number,
)
from ranktrial.archive.integrity import check, unpack
from ranktrial.common.command_line import run
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder
from ranktrial.common.given_places import check_folder

MARKER = ".ranktrial-comparison"  # lists what was written: only that is deleted when the comparison is made again
SHOWN = 20  # differences of a section that the page lists; inputs.tsv has all


def page(
    names: tuple[str, str],
    inputs: list[Difference],
    moved: list[Moved],
    figures: list[str],
    alone: list[str],
    again: Repeated,
) -> str:
    """The page as Markdown."""
    lines = ["# Two archives compared", "", f"A: {names[0]}", "", f"B: {names[1]}", ""]
    lines += _moves(moved, figures, alone)
    lines += ["## How well B reproduces A", "", *reproduced(again, SHOWN), ""]
    lines += ["## What went in differently", "", *(_inputs(inputs) if inputs else ["Nothing.", ""])]
    return "\n".join(lines)


def _moves(moved: list[Moved], figures: list[str], alone: list[str]) -> list[str]:
    """How far effects moved: a sentence, a table, figures, and the comparisons that only one archive has."""
    lines = ["## What moved", "", _verdict(moved), ""]
    lines += ["| comparison | task | effect | A | B | B - A | 95% interval | n |", "|---|---|---|--:|--:|--:|--:|--:|"]
    for row in moved:
        interval = f"{row.ci_low:.4f} to {row.ci_high:.4f}" if row.ci_low is not None else ""
        cells = [
            row.comparison,
            row.task,
            row.effect_type,
            *map(shown_number, (row.a, row.b, row.difference)),
            interval,
        ]
        lines.append(f"| {' | '.join(cells)} | {row.n or ''} |")
    lines += ["", *(f"![{name}]({name}.svg)\n" for name in figures)]
    if alone:
        why = "since only one archive has them or their effect or measure differs"
        lines += [f"Not compared, {why}: {', '.join(alone)}.", ""]
    return lines


def _inputs(inputs: list[Difference]) -> list[str]:
    """The differences apart from numbers, the first of each section."""
    lines = []
    for section in dict.fromkeys(difference.section for difference in inputs):
        of_section = [difference for difference in inputs if difference.section == section]
        lines += [f"### {section.capitalize()} ({len(of_section)})", "", "| what | A | B |", "|---|---|---|"]
        lines += [
            f"| {cell(difference.what)} | {cell(difference.a)} | {cell(difference.b)} |"
            for difference in of_section[:SHOWN]
        ]
        lines += [f"\n{len(of_section) - SHOWN} more in inputs.tsv.\n" if len(of_section) > SHOWN else ""]
    return lines


def _verdict(moved: list[Moved]) -> str:
    """A sentence that says whether the effects are the same."""
    changed = [row for row in moved if row.a != row.b]
    if not changed:
        return f"All {len(moved)} effects are the same to the last digit."
    sure = [row for row in changed if row.ci_low is not None and not row.ci_low <= 0 <= row.ci_high]
    largest = max(changed, key=lambda row: abs((row.b or 0) - (row.a or 0)))
    move = (largest.b or 0) - (largest.a or 0)
    return (
        f"{len(changed)} of {len(moved)} effects moved, most {largest.comparison} on {largest.task} ({move:+.4f}); "
        f"for {len(sure)} the interval of the move excludes zero."
    )


def write_table(path: Path, kind: type, rows: list) -> None:
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, [field.name for field in fields(kind)], delimiter="\t", lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(row) for row in rows)


def compare(
    folders: list[Path], manifests: list[dict], names: list[str], out: Path
) -> tuple[list[Moved], list[Difference]]:
    """Write the comparison of two unpacked archives into the empty folder `out`."""
    sides = [Side(folder, manifest) for folder, manifest in zip(folders, manifests, strict=True)]
    shared = shared_comparisons(*sides)
    moved = [row for name, pair in shared.items() for row in compared(*sides, name, pair, out)]
    shutil.rmtree(out / "moved", ignore_errors=True)
    figures = [name for name in shared if (out / f"{name}.svg").is_file()]
    inputs = differences(*folders)
    again = repeated(*sides, shared)
    write_table(out / "rankings.tsv", RepeatedRun, again.rankings)
    write_table(out / "scores.tsv", RepeatedScores, again.scores)
    write_table(out / "reproduced-effects.tsv", RepeatedEffect, again.effects)
    write_table(out / "effects.tsv", Moved, moved)
    write_table(out / "inputs.tsv", Difference, inputs)
    alone = sorted((sides[0].comparisons() | sides[1].comparisons()) - shared.keys())
    (out / "comparison.md").write_text(page(tuple(names), inputs, moved, figures, alone, again))
    (out / MARKER).write_text("".join(f"{name}\n" for name in sorted({MARKER, *(path.name for path in out.iterdir())})))
    return moved, inputs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("a", "b", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    arguments = parser.parse_args()
    check_folder(arguments.out, MARKER, "comparison")
    with tempfile.TemporaryDirectory(prefix="ranktrial-compare-") as temporary:
        folders, names, manifests = [], [], []
        for name in ("a", "b"):
            archive = getattr(arguments, name)
            checked = check(archive)
            if checked.damages:
                raise UserError(f"{archive}: damaged: {checked.damages[0]}")
            folders.append(Path(temporary, name))
            manifests.append(checked.manifest)
            description = f"{archive.name}, experiment {checked.manifest['experiment']}, SHA-256 {checked.sha256}"
            names.append("".join(character if character.isprintable() else "?" for character in description))
            unpack(archive, folders[-1], checked.manifest)
        with atomic_folder(arguments.out) as out:
            moved, inputs = compare(folders, manifests, names, out)
    print(f"{arguments.out}/comparison.md: {_verdict(moved)} {len(inputs)} differences in what went in")


if __name__ == "__main__":
    run(main)
