"""What `make archive` does: find the experiment's configuration, see that it is finished, and have the archive written.

An unfinished experiment is told by its missing or outdated files instead of being run, which may take days.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
from pathlib import Path

from scripts.common.command_line import run
from scripts.common.errors import UserError
from scripts.experiment.reading import read_yaml
from scripts.experiment.results_paths import path

SNAKEMAKE = [sys.executable, "-m", "snakemake"]
EXTENTS = ("crate", "full", "runs")


def configuration(experiment: str, folder: Path) -> Path:
    """The configuration in `folder` that names the experiment. Raises UserError, with those that there are."""
    found = {}
    for file in sorted(folder.glob("*.yaml")):
        if file.name != "schema.yaml" and (name := read_yaml(file).get("experiment")):
            found.setdefault(name, file)
    if experiment not in found:
        there = ", ".join(f"{name} ({file})" for name, file in found.items())
        raise UserError(
            f"{experiment}: no configuration in {folder}/ has this experiment; there are {there}; or give CONFIG"
        )
    return found[experiment]


def unfinished(config: Path) -> list[str]:
    """The files that Snakemake would still make, each with the reason in brackets."""
    done = subprocess.run([*SNAKEMAKE, "--configfile", str(config), "--summary"], capture_output=True, text=True)
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")]
        raise UserError(
            said[0].removeprefix("error: ") if said else f"{config}: {done.stderr.strip().splitlines()[-1]}"
        )
    rows = csv.DictReader(done.stdout.splitlines(), delimiter="\t")
    return [f"{row['output_file']} ({row['status']})" for row in rows if row["plan"] == "update pending"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", help="its name; its configuration is looked for in config/")
    parser.add_argument("--config", type=Path)
    parser.add_argument(
        "--extent", choices=EXTENTS, default="crate", help="full: with checkpoints, embeddings, texts, …"
    )
    arguments = parser.parse_args()
    config = configuration(arguments.experiment, Path("config")) if arguments.experiment else arguments.config
    if not config.is_file():
        raise UserError(f"{config}: no such file")
    name = read_yaml(config).get("experiment")
    if left := unfinished(config):
        raise UserError(
            f"{config}: unfinished, {len(left)} files are to be made: {', '.join(left[:5])}; make run CONFIG={config}"
        )
    if arguments.extent == "runs":
        target, rule = path("exported_runs", experiment=name), "export_runs"
    else:
        target, rule = path("archive", experiment=name, extent=arguments.extent), "write_archive"
    # The rule runs even if its file is there.
    command = [*SNAKEMAKE, target, "--forcerun", rule, "--configfile", str(config)]
    sys.stdout.flush()
    os.execv(command[0], command)


if __name__ == "__main__":
    run(main)
