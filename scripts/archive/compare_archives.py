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
    compared,
    differences,
    repeated,
    reproduced,
    shared_comparisons,
    table,
)
from ranktrial.archive.integrity import check, unpack
from ranktrial.common.command_line import run
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder
from ranktrial.common.given_places import check_folder
from ranktrial.reports.writing.content import Block, Figure, Paragraph, Section
from ranktrial.reports.writing.printed import markdown_document

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
    return markdown_document(
        "Two archives compared",
        [
            *(Paragraph(f"{side}: {name}") for side, name in zip("AB", names, strict=True)),
            Section("What moved", _moves(moved, figures, alone)),
            Section("How well B reproduces A", reproduced(again, SHOWN)),
            Section("What went in differently", _inputs(inputs) or [Paragraph("Nothing.")]),
        ],
    )


def _moves(moved: list[Moved], figures: list[str], alone: list[str]) -> list[Block]:
    """How far effects moved: a sentence, a table, figures, and the comparisons that only one archive has."""
    columns = {name: name for name in ("comparison", "task")}
    columns |= {"effect": "effect_type", "A": "a", "B": "b", "B - A": "difference"}
    columns |= {"from": "ci_low", "to (95% interval)": "ci_high", "n": "n"}
    why = "since only one archive has them or their effect or measure differs"
    return [
        Paragraph(_verdict(moved)),
        *table(columns, moved),
        *(Figure(f"{name}.svg", "", name) for name in figures),
        *([Paragraph(f"Not compared, {why}: {', '.join(alone)}.")] if alone else []),
    ]


def _inputs(inputs: list[Difference]) -> list[Block]:
    """The differences apart from numbers, the first of each section."""
    blocks: list[Block] = []
    for section in dict.fromkeys(difference.section for difference in inputs):
        of_section = [difference for difference in inputs if difference.section == section]
        shown = table({"what": "what", "A": "a", "B": "b"}, of_section[:SHOWN])
        further = len(of_section) - SHOWN
        more = [Paragraph(f"{further} more in inputs.tsv.")] if further > 0 else []
        blocks.append(Section(f"{section.capitalize()} ({len(of_section)})", [*shown, *more]))
    return blocks


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
        writer = csv.DictWriter(file, [field.name for field in fields(kind)], delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


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
