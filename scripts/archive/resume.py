"""Copy an archive's results into this clone, so that the experiment can be continued.

Reads the archive. Writes results/, Snakemake's records and the ledger, with the time stamps that the files had, and the
configuration in config/ under a free name. If existing files differ, nothing is written unless --overwrite is given.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ranktrial.archive.expected import configuration
from ranktrial.archive.integrity import check, unpack
from ranktrial.archive.taken_over import Clone, checked_state, take_configuration, write_state
from ranktrial.common.command_line import run
from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256, write_json
from ranktrial.common.ledger import replacing
from ranktrial.common.paths import below
from ranktrial.engine.job_records import PARTS, link_state
from ranktrial.experiment import results_paths
from ranktrial.experiment.model_checks import Sent, sent_variables
from ranktrial.experiment.records import UNTRAINED
from scripts.archive.verify import differing_sources, kinds_of, plain


def plan(folder: Path, clone: Clone, manifest: dict) -> dict[str, tuple[Path, Path]]:
    """Name -> (archived file, path in the clone) of each result. Raises UserError for a path that no result has."""
    return {
        name: (folder / name, clone.result(name, manifest["experiment"]))
        for name, entry in manifest["files"].items()
        if name.startswith("results/") and entry["kind"] != "origin of a run"
    }


def resume(folder: Path, clone: Clone, manifest: dict, overwrite: bool) -> tuple[int, Path]:
    """Copy the files that the clone lacks; returns how many were written, and the path of the configuration.

    Raises UserError, before anything is written, if existing files differ or the records are not valid.
    """
    state = checked_state(folder, manifest)
    archived, config = take_configuration(clone, folder, state, manifest["experiment"])
    goes = plan(folder, clone, manifest)
    to_write = {name: pair for name, pair in goes.items() if not _same(*pair)}
    differing = [name for name, (_, target) in to_write.items() if target.exists()]
    if blocked := [name for name in differing if not goes[name][1].is_file()]:
        raise UserError(f"{blocked[0]}: already exists and is not a file; nothing was written: move it away")
    for name, (_, target) in to_write.items():
        obstacle = next((parent for parent in target.parents if parent.exists() and not parent.is_dir()), None)
        if obstacle:
            problem = f"{obstacle.name} already exists and is not a folder"
            raise UserError(f"{name}: {problem}; nothing was written: move it away")
    if differing and not overwrite:
        raise UserError(
            f"{len(differing)} files already exist and differ from the archive's ({', '.join(differing[:3])}, …); "
            "nothing was written: move them away, or give OVERWRITE=1"
        )
    left_out = results_paths.path("left_out", experiment=manifest["experiment"]).removeprefix("results/")
    left_out_file = below(clone.results, left_out, "results")
    for part in PARTS:
        clone.state(f"{part}/x")  # raises UserError if it lies behind a link
    link_state(clone.results, clone.folder / ".snakemake")
    for source, target in [*to_write.values(), *([] if config.exists() else [(archived, config)])]:
        _copy(source, target)
    write_json(left_out_file, manifest["absent"], indent=1)
    write_state(clone, state, manifest, {name: target for name, (_, target) in goes.items()})
    return len(to_write), config.relative_to(clone.folder)


def fill(folder: Path, clone: Clone, manifest: dict, config: Path) -> None:
    """Make the downloads, texts and untrained weights again that the archive left out, exactly as they were.

    Afterwards a change reruns only what depends on it. Raises UserError if a file comes out different.
    """
    state = checked_state(folder, manifest)
    absent = {name: entry for name, entry in manifest["absent"].items() if entry["kind"] in ("download", "text")}
    absent |= {name: entry for name, entry in manifest["absent"].items() if f"/{UNTRAINED}/" in name}
    targets = set()
    for name in absent:
        recorded = next((path for path in (name, *map(str, Path(name).parents)) if path in state["records"]), None)
        if recorded is None:
            raise UserError(f"{name}: the archive has no record of how it was made")
        targets.add(recorded)
    missing = sorted(path for path in targets if not clone.result(path, manifest["experiment"]).exists())
    command = [sys.executable, "-m", "snakemake", "--configfile", str(config), "--", *missing]
    if missing and subprocess.run(command, cwd=clone.folder).returncode:
        raise UserError(f"{config}: what the archive left out could not be made again, see above")
    places = {name: clone.result(name, manifest["experiment"]) for name in absent}
    for name, entry in absent.items():
        if not places[name].is_file() or sha256(places[name]) != entry["sha256"]:
            raise UserError(
                f"{name}: made again, it is not what the archive's experiment had (SHA-256 {entry['sha256']})"
            )
    for name, (source, target) in plan(folder, clone, manifest).items():
        if not _same(source, target):  # timings were made again too: the archive's are restored
            _copy(source, target)
        places[name] = target
    write_state(clone, state, manifest, places)
    print(f"{len(absent)} files that the archive left out were made again, with the same SHA-256")


def asked(folder: Path, manifest: dict) -> tuple[list[Sent], list[str]]:
    """What the archive's configuration asks of this machine: the environment variables that it sends to servers, and
    the systems that run programs which it names. Raises UserError as `resume`.
    """
    files = checked_state(folder, manifest)["config_files"]
    config = configuration(folder, files, manifest["experiment"])
    programs = [name for name, entry in config["systems"].items() if entry.get("type") == "command"]
    return list(dict.fromkeys(sent_variables(config))), programs


def consent(sends: list[Sent], given: bool) -> None:
    """Ask whether fetching data may send variables of the environment. Raises UserError without consent."""
    fetching = [one for one in sends if one.fetching]
    if not fetching or given:
        return
    listed = ", ".join(map(str, fetching))
    if not sys.stdin.isatty():
        problem = f"the archive's configuration sends the environment variables {listed}; nothing was taken over"
        raise UserError(f"{problem}: give SEND=1 (--send-variables) if you trust it, or leave FILL=1 out")
    print(f"WARNING: the archive's configuration sends these environment variables: {plain(listed)}.")
    if input("Send them? Type yes: ").strip().lower() != "yes":
        raise UserError("nothing was sent, and nothing was taken over")


def _copy(source: Path, target: Path) -> None:
    """Copy a file atomically."""
    with replacing(target) as temporary:
        shutil.copyfile(source, temporary)


def _same(source: Path, target: Path) -> bool:
    return target.is_file() and target.stat().st_size == source.stat().st_size and sha256(target) == sha256(source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, required=True)
    parser.add_argument("--overwrite", action="store_true", help="replace files that are here and differ")
    parser.add_argument("--fill", action="store_true", help="also make data and untrained weights again")
    parser.add_argument("--follow-links", action="store_true", help="write into results/ though it is a link")
    parser.add_argument("--send-variables", action="store_true", help="with --fill: send those that its URLs name")
    arguments = parser.parse_args()
    into = Path.cwd()
    if not any((into / name).is_file() for name in ("Snakefile", "workflow/Snakefile")):
        raise UserError(f"{into}: no Snakefile; expected a clone of ranktrial, or where it is deployed")
    checked = check(arguments.archive)
    if checked.damages:
        raise UserError(f"{arguments.archive}: damaged, nothing was taken over: {checked.damages[0]}")
    clone = Clone(into, arguments.follow_links)
    with tempfile.TemporaryDirectory(prefix=".ranktrial-resume-", dir=into) as temporary:
        folder = Path(temporary).resolve()
        unpack(arguments.archive, folder, checked.manifest)
        sends, programs = asked(folder, checked.manifest)
        if arguments.fill:
            consent(sends, arguments.send_variables)
        written, config = resume(folder, clone, checked.manifest, arguments.overwrite)
        differing = differing_sources(folder)
        if arguments.fill:
            fill(folder, clone, checked.manifest, config)
    print(f"{written} files taken over; continue with: snakemake --configfile {config}")
    if sends:
        listed = plain(", ".join(map(str, sends)))
        print(f"its jobs send environment variables, if they are set: {listed}; read {config} first", file=sys.stderr)
    if programs:
        listed = plain(", ".join(programs))
        print(
            f"its jobs run programs that it names, with your rights, for {listed}; read {config} first", file=sys.stderr
        )
    if (absent := checked.manifest["absent"]) and not arguments.fill:
        print(
            f"not in the archive: {kinds_of(absent)}. What needs one of them makes it again, with all that depends on "
            "it; FILL=1 (--fill) makes data and untrained weights again beforehand"
        )
    if differing:
        print(
            f"{len(differing)} sources differ from the archive's, such as {differing[0]}: what these decide runs again",
            file=sys.stderr,
        )


if __name__ == "__main__":
    run(main)
