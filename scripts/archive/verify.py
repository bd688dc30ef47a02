"""Verify an archive: every hash and, with --recompute, every number that follows from its runs and judgements.

Reads the archive (zipped or unpacked) and prints the findings. The exit code is 0 if nothing was changed and, with
--recompute, every result is accounted for and whatever can be recomputed is the same; 1 if not; 2 if the archive cannot
be read. Checking hashes needs only Python.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections import Counter
from pathlib import Path

from ranktrial.archive.integrity import Checked, check, unpack
from ranktrial.archive.sources import source_files
from ranktrial.common.errors import UserError
from ranktrial.common.given_places import check_file
from ranktrial.common.home import own_file
from ranktrial.common.paths import OUR_CODE

COLUMNS = ("path", "kind", "verdict", "reason")  # of a report


def differing_sources(folder: Path) -> list[str]:
    """The sources that numbers depend on and that differ between an unpacked archive and our own.

    The sources that write and read archives do not count.
    """
    archived = {path for path in source_files(folder / "workflow") if _decides(path)}
    ours = {path for path in source_files() if _decides(path)}

    def same(path: str) -> bool:
        return path in archived & ours and (folder / "workflow" / path).read_bytes() == own_file(path).read_bytes()

    return sorted(path for path in archived | ours if not same(path))


def _decides(path: str) -> bool:
    named = path.startswith((*OUR_CODE, "rules/")) or path == "Snakefile"
    return named and not path.startswith(("scripts/archive/", "ranktrial/archive/", "rules/archive.smk"))


def say_sources(differing: list[str]) -> None:
    if not differing:
        print("recomputed with the sources here, which are the same as the archive's")
        return
    example = f"{len(differing)} files differ, such as {differing[0]}"
    print(f"recomputed with the sources here, not the archive's ({example})")
    for path in differing:
        print(f"  changed source: {path}")


def recompute(archive: Path, manifest: dict, report: Path | None) -> bool:
    """Print the verdicts on all results, grouped; returns whether none is different or unaccounted for."""
    from ranktrial.archive.recompute import CONTRADICTED, NOT_HERE, verdicts  # hashes are checked without it

    with tempfile.TemporaryDirectory(prefix="ranktrial-verify-") as temporary:
        folder = Path(temporary).resolve()
        unpack(archive, folder, manifest)
        differing = differing_sources(folder)
        say_sources(differing)
        results = verdicts(folder, manifest, not differing)
    counts: dict[str, Counter] = {}
    for result in results:
        counts.setdefault(result.kind, Counter())[result.verdict] += 1
    for kind, of_kind in sorted(counts.items()):
        print(f"  {kind}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(of_kind.items())))
    reasons = Counter(result.reason.partition(" (")[0] for result in results if result.verdict == NOT_HERE)
    for reason, count in sorted(reasons.items()):
        print(f"  {count} {'file' if count == 1 else 'files'} {NOT_HERE}: {plain(reason)}")
    wrong = [result for result in results if result.verdict in ("different", CONTRADICTED)]
    for result in wrong:
        print(plain(f"{result.verdict}: {result.path}: {result.reason}"))
    if report:
        write_report(report, results)
    total = Counter(result.verdict for result in results)
    words = {NOT_HERE: "by their hashes only"}
    listed = ", ".join(f"{count} {words.get(verdict, verdict)}" for verdict, count in total.most_common())
    print(f"{'not verified' if wrong else 'verified'}: {listed}")
    return not wrong


def write_report(report: Path, results: list) -> None:
    with open(report, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, delimiter="\t", lineterminator="\n")
        rows.writerow(COLUMNS)
        for result in results:
            rows.writerow([plain(cell) for cell in (result.path, result.kind, result.verdict, result.reason)])
    print(f"{report}: a row for each of {len(results)} artefacts")


def plain(text: str) -> str:
    """An untrusted text in one line, without characters that would control a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def kinds_of(entries: dict[str, dict]) -> str:
    """How many of a manifest's files are of each kind, as text."""
    kinds = Counter(entry["kind"] for entry in entries.values())
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def say_hashes(archive: Path, checked: Checked) -> None:
    """Print the result of the check of hashes."""
    for damage in checked.damages:
        print(plain(f"changed: {damage}"))
    files = checked.manifest.get("files", {})
    if not checked.damages:
        print(f"{archive}: all {len(files)} files are as they were written ({kinds_of(files)})")
        if absent := checked.manifest["absent"]:
            print(f"left out, with their hashes: {kinds_of(absent)}")
        if checked.manifest["rewritten"]:
            print(f"home folders or secrets were taken out of {len(checked.manifest['rewritten'])} of them at writing")
    if checked.sha256:
        print(f"SHA-256 of the archive: {checked.sha256}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, required=True, help="the zip, or the folder where it was unpacked")
    parser.add_argument("--recompute", action="store_true", help="also recompute all numbers and figures")
    parser.add_argument("--report", type=Path, help="write a row for each artefact to this TSV")
    arguments = parser.parse_args()
    try:
        if arguments.report:
            check_file(arguments.report, "\t".join(COLUMNS), "report", "REPORT")
        checked = check(arguments.archive)
        say_hashes(arguments.archive, checked)
        if checked.damages:
            if arguments.recompute:
                print("nothing was recomputed, since the archive is damaged")
            return 1
        return 0 if not arguments.recompute or recompute(arguments.archive, checked.manifest, arguments.report) else 1
    except UserError as error:
        print(plain(f"error: {error}"), file=sys.stderr)
        return 2
    except OSError as error:
        print(
            plain(f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error}"),
            file=sys.stderr,
        )
        return 2


if __name__ == "__main__":
    sys.exit(main())
