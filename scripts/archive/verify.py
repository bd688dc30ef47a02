"""Verify an archive: every hash and, with --recompute, every number that its runs and judgements imply.

Reads the archive (zipped or unpacked). Prints what it found; exit code 0 if all is as it was written and, with
--recompute, every result is accounted for and whatever can be recomputed is the same; 1 if not; 2 if the archive cannot
be read. Checking hashes needs nothing but Python.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections import Counter
from pathlib import Path

from scripts.archive.checking.confined import NONE, WORDS, Confinement, strongest
from scripts.archive.checking.integrity import Checked, check
from scripts.archive.checking.unpack import unpack
from scripts.archive.provenance.origin import source_files
from scripts.common.errors import UserError

ROOT = Path(__file__).parents[2]


def differing_sources(folder: Path, root: Path) -> list[str]:
    """The sources that decide numbers and that an unpacked archive and a clone do not have in common, byte for byte.

    What archives are written and read with does not count.
    """
    archived, ours = ({path for path in source_files(one) if _decides(path)} for one in (folder / "workflow", root))

    def same(path: str) -> bool:
        return path in archived & ours and (folder / "workflow" / path).read_bytes() == (root / path).read_bytes()

    return sorted(path for path in archived | ours if not same(path))


def _decides(path: str) -> bool:
    named = path.startswith(("scripts/", "rules/")) or path in ("Snakefile", "config/schema.yaml")
    return named and not path.startswith(("scripts/archive/", "rules/archive.smk"))


def say_sources(others: list[str]) -> None:
    if not others:
        print("recomputed with this clone's sources, which are the same as the archive's")
        return
    said = f"{len(others)} files differ, such as {others[0]}"
    print(f"recomputed with this clone's sources, not the archive's ({said}): SOURCES=archive runs those")
    for path in others:
        print(f"  changed source: {path}")


def allowed(trusted: bool) -> Confinement:
    """How the archive's own sources may run here, asking for it. Raises UserError where nobody allows it."""
    confinement = strongest()
    print("WARNING: SOURCES=archive runs programs that came with the archive, written by whoever made it.")
    print(f"They run here {'without protection' if confinement.by == NONE else 'confined'} ({WORDS[confinement.by]}).")
    if trusted:
        return confinement
    if not sys.stdin.isatty():
        raise UserError(
            "the archive's own sources are not run unasked: give TRUST=1 (--trust-sources) if you trust them"
        )
    if input("Run them? Type yes: ").strip().lower() != "yes":
        raise UserError("the archive's own sources were not run")
    return confinement


def recompute(archive: Path, manifest: dict, arguments: argparse.Namespace) -> bool:
    """Print a verdict on every result, grouped; returns whether all that has to be was recomputed, and is the same."""
    from scripts.archive.checking.recompute import CONTRADICTED, NOT_HERE, verdicts  # hashes are checked without it

    own = arguments.sources == "archive"
    confinement = Confinement()
    if own and not is_zip_or_folder_of(archive):
        confinement = allowed(arguments.trust_sources)
    with tempfile.TemporaryDirectory(prefix="ranktrial-verify-") as temporary:
        folder = Path(temporary).resolve()
        unpack(archive, folder, manifest)
        root = folder / "workflow" if own else ROOT
        others = [] if own else differing_sources(folder, root)
        if own:
            print("recomputed with the archive's own sources")
        else:
            say_sources(others)
        found = verdicts(folder, manifest, root, not others, confinement)
    counts: dict[str, Counter] = {}
    for one in found:
        counts.setdefault(one.kind, Counter())[one.verdict] += 1
    for kind, of_kind in sorted(counts.items()):
        print(f"  {kind}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(of_kind.items())))
    reasons = Counter(one.reason.partition(" (")[0] for one in found if one.verdict == NOT_HERE)
    for reason, count in sorted(reasons.items()):
        print(f"  {count} files {NOT_HERE}: {plain(reason)}")
    wrong = [one for one in found if one.verdict in ("different", CONTRADICTED)]
    for one in wrong:
        print(plain(f"{one.verdict}: {one.path}: {one.reason}"))
    if arguments.report:
        write_report(arguments.report, found)
    return not wrong


def is_zip_or_folder_of(archive: Path) -> bool:
    """Whether this very program runs from inside the archive: then its user has asked for it."""
    return ROOT.resolve().is_relative_to(archive.resolve())


def write_report(report: Path, found: list) -> None:
    with open(report, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, delimiter="\t", lineterminator="\n")
        rows.writerow(["path", "kind", "verdict", "reason"])
        rows.writerows([plain(cell) for cell in (one.path, one.kind, one.verdict, one.reason)] for one in found)
    print(f"{report}: a row for each of {len(found)} artefacts")


def plain(text: str) -> str:
    """A stranger's text in one line, without what would steer a terminal."""
    return "".join(one if one.isprintable() else "?" for one in text)


def say_hashes(archive: Path, checked: Checked) -> None:
    """Print what the hashes say."""
    for said in checked.damages:
        print(plain(f"changed: {said}"))
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
    parser.add_argument("--trust-sources", action="store_true", help="run the archive's scripts without asking")
    parser.add_argument("--report", type=Path, help="write a row for each artefact to this TSV")
    arguments = parser.parse_args()
    try:
        checked = check(arguments.archive)
        say_hashes(arguments.archive, checked)
        if checked.damages:
            if arguments.recompute:
                print("nothing was recomputed, since the archive is damaged")
            return 1
        return 0 if not arguments.recompute or recompute(arguments.archive, checked.manifest, arguments) else 1
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
