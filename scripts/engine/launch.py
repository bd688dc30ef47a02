"""Starts Snakemake after reading the configuration, so that errors in the YAML are one line, as is Ctrl-C.

Snakemake reads the files of --configfile before the Snakefile, so that no check there is early enough. For bad YAML it
names neither file nor line; a missing file, a folder or bytes that are not text end in a traceback; and it runs the
Python code of a file with the key `__use_yte__`. `make setup` replaces .venv/bin/snakemake by
scripts/engine/snakemake.sh, which runs this script; all arguments are passed on to Snakemake. Jobs are started with
`python -m snakemake` and do not pass through this script.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # this file is not run as a module, and its own folder is not on Python's path (-P)

from ranktrial.common import processes  # noqa: E402

processes.in_one_line()  # before anything slow

from ranktrial.common.command_line import run  # noqa: E402
from ranktrial.common.errors import UserError  # noqa: E402
from ranktrial.common.paths import why_no_clone  # noqa: E402
from ranktrial.common.strict_yaml import read_yaml  # noqa: E402

DEFAULT = "config/config.yaml"


def check(arguments: argparse.Namespace) -> None:
    """Read all files that Snakemake will read. Raises UserError for an invalid configuration, and for a bad clone."""
    folder = Path(arguments.directory or ".")
    snakefile = arguments.snakefile or "Snakefile"
    if Path(snakefile).resolve() != ROOT / "Snakefile":
        return  # another workflow, whose configuration may have another form
    if reason := why_no_clone(str(ROOT)):
        raise UserError(reason)
    for path in arguments.configfile or [folder / DEFAULT]:
        if str(path).startswith("-"):  # jobs would take it for an option
            raise UserError(f"{path}: a configuration's name cannot begin with -; rename it")
        read_yaml(Path(path))


def without_rate_limit(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Remove Snakemake's default limit of 100 jobs per second; a limit that was given stays.

    With a limit, Snakemake 9.27 looks for jobs to start once per second for each job that has ever ended: after a few
    hundred jobs, this alone keeps a core busy.
    """
    from snakemake.settings.types import MaxJobsPerTimespan

    limit = arguments.max_jobs_per_timespan
    default = MaxJobsPerTimespan.parse_choice(parser.get_default("max_jobs_per_timespan"))
    if limit and (limit.max_jobs, limit.timespan) == (default.max_jobs, default.timespan):
        arguments.max_jobs_per_timespan = None


def main() -> None:
    from snakemake import cli

    sys.argv[0] = str(Path(sys.executable).with_name("snakemake"))  # Snakemake's name in its help and records
    try:
        parser, arguments = cli.parse_args(None)
    except Exception as error:  # as in Snakemake's own main
        cli.print_exception(error)
        sys.exit(1)
    check(arguments)
    without_rate_limit(parser, arguments)
    try:
        done = cli.args_to_api(arguments, parser)
    except Exception as error:
        cli.print_exception(error)
        sys.exit(1)
    sys.exit(0 if done else 1)


if __name__ == "__main__":
    run(main)
