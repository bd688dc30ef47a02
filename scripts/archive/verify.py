"""Verify an archive: every hash and, with --recompute, every number that its runs and judgements imply.

Reads the archive (zipped or unpacked). Prints what it found; exit code 0 if all is as it was written and recomputes,
1 if not, 2 if the archive cannot be read. Checking hashes needs nothing but Python.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections import Counter
from pathlib import Path

from scripts.archive.integrity import Checked, check
from scripts.archive.origin import source_files
from scripts.archive.unpack import unpack
from scripts.common.errors import UserError

ROOT = Path(__file__).parents[2]


def differing_sources(folder: Path, root: Path) -> list[str]:
    """The scripts of the experiment that an unpacked archive and a clone do not have in common, byte for byte."""
    archived, ours = (
        {path for path in source_files(one) if path.startswith("scripts/") and not path.startswith("scripts/archive/")}
        for one in (folder / "workflow", root)
    )

    def same(path: str) -> bool:
        return path in archived & ours and (folder / "workflow" / path).read_bytes() == (root / path).read_bytes()

    return sorted(path for path in archived | ours if not same(path))


def recompute(archive: Path, sources: str, report: Path | None) -> bool:
    """Print a verdict on every artefact, grouped; returns whether none is different."""
    from scripts.archive.recompute import NOT_HERE, verdicts  # hashes are checked without it

    with tempfile.TemporaryDirectory(prefix="ranktrial-verify-") as temporary:
        folder = Path(temporary)
        unpack(archive, folder)
        root = folder / "workflow" if sources == "archive" else ROOT
        if sources == "archive":
            print("recomputed with the archive's own sources")
        elif others := differing_sources(folder, ROOT):
            said = f"{len(others)} scripts differ, such as {others[0]}"
            print(f"recomputed with this clone's sources, not the archive's ({said}): SOURCES=archive runs those")
        else:
            print("recomputed with this clone's sources, which are the same as the archive's")
        found = verdicts(folder, root)
    counts: dict[str, Counter] = {}
    for one in found:
        counts.setdefault(one.kind, Counter())[one.verdict] += 1
    for kind, of_kind in sorted(counts.items()):
        print(f"  {kind}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(of_kind.items())))
    reasons = Counter(one.reason.partition(" (")[0] for one in found if one.verdict == NOT_HERE)
    for reason, count in sorted(reasons.items()):
        print(f"  {count} files {NOT_HERE}: {reason}")
    different = [one for one in found if one.verdict == "different"]
    for one in different:
        print(f"different: {one.path}: {one.reason}")
    if report:
        with open(report, "w", newline="") as file:
            rows = csv.writer(file, delimiter="\t", lineterminator="\n")
            rows.writerow(["path", "kind", "verdict", "reason"])
            rows.writerows([one.path, one.kind, one.verdict, one.reason] for one in found)
        print(f"{report}: a row for each of {len(found)} artefacts")
    return not different


def say_hashes(archive: Path, checked: Checked) -> None:
    """Print what the hashes say."""
    for said in checked.damages:
        print(f"changed: {said}")
    files = checked.manifest.get("files", {})
    kinds = Counter(entry["kind"] for entry in files.values())
    if not checked.damages:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        print(f"{archive}: all {len(files)} files are as they were written ({listed})")
        absent = Counter(entry["kind"] for entry in checked.manifest["absent"].values())
        if absent:
            print("left out, told by their hashes: " + ", ".join(f"{n} {kind}" for kind, n in sorted(absent.items())))
        if checked.manifest["rewritten"]:
            print(f"home folders or secrets were taken out of {len(checked.manifest['rewritten'])} of them at writing")
    if checked.sha256:
        print(f"SHA-256 of the archive: {checked.sha256}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, required=True, help="the zip, or the folder where it was unpacked")
    parser.add_argument("--recompute", action="store_true", help="also recompute all numbers and figures")
    parser.add_argument("--sources", choices=["clone", "archive"], default="clone", help="whose scripts recompute")
    parser.add_argument("--report", type=Path, help="write a row for each artefact to this TSV")
    arguments = parser.parse_args()
    try:
        checked = check(arguments.archive)
        say_hashes(arguments.archive, checked)
        if checked.damages:
            if arguments.recompute:
                print("nothing was recomputed, since the archive is damaged")
            return 1
        return 0 if not arguments.recompute or recompute(arguments.archive, arguments.sources, arguments.report) else 1
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
