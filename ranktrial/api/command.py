"""The command `ranktrial`: compare scores or runs, write a configuration, and use the results of the workflow."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ranktrial.common.command_line import ensure_utf8
from ranktrial.common.errors import UserError
from ranktrial.common.extras import names_extras
from ranktrial.common.home import HOME
from ranktrial.common.version import VERSION

if TYPE_CHECKING:
    from ranktrial.api.findings import Findings

REFUSED = 2  # exit code of bad input
ABOUT = """\
ranktrial compares retrieval systems, or anything with one score per query or sample: by how much does one beat another,
on these collections, over collections like them, and in a new one? The other commands are for the complete workflow,
from raw data to forest plots, in the folder where it runs: a clone, or a repository into which it is deployed."""
EXAMPLES = """\
examples:
  ranktrial compare scores.csv                             columns such as task, query, system, value
  ranktrial compare scores.csv --control bm25 --out page/  page/report.html, forest plot, tables
  ranktrial compare perquery.csv --measure nDCG@10         a table of PyTerrier, ir_measures or trec_eval -q
  ranktrial compare qrels.txt a.run b.run --measure AP     TREC runs with their judgements
  ranktrial compare harness/ --measure acc                 a folder with a file (CSV, JSON lines) per system and task
  ranktrial compare scores.csv --json                      all numbers, for programs

exit codes: 0, or 2 if the input cannot be compared; a line on standard error says why."""
EXAMPLES_OF_NEW = """\
examples:
  ranktrial new data/mine                      writes config/mine.yaml, or mine.yaml where there is no folder config
  ranktrial new data/glue --measure accuracy   names the values of files of scores

The configuration runs where the workflow is: snakemake --configfile config/mine.yaml"""
SCRIPTS = {  # command -> the script that it starts with which options, and its help
    "status": ("engine.status", [], "show the progress of the runs under way, or of the last one"),
    "archive": ("archive.front", [], "pack a finished experiment, with its provenance, into one file"),
    "verify": ("archive.verify", [], "check every hash of an archive and, with --recompute, every number"),
    "resume": ("archive.resume", [], "take the results of an archive over, to continue the experiment"),
    "check-results": ("archive.check_results", [], "check that results are what their jobs wrote"),
    "compare-archives": ("archive.compare_archives", [], "compare two archives"),
    "export-runs": ("archive.front", ["--extent", "runs"], "export the runs, each with its provenance"),
    "export-model": ("archive.export_model", [], "export a trained checkpoint with a model card"),
    "check-cluster": ("engine.check_cluster", [], "ask Slurm whether it would take the jobs of the profile"),
    "check-gpu": ("training.check_gpu", [], "check that torch uses the GPUs of this machine"),
}
OF_MAKE = (  # how messages name what make runs, and how they do without make
    (r"\bmake run CONFIG=", "snakemake --configfile "),
    (
        rf"\bmake (run|{'|'.join(SCRIPTS)})\b",
        lambda found: {"run": "snakemake"}.get(found[1], f"ranktrial {found[1]}"),
    ),
    (r"\bFULL=1", "--extent full"),
    (r"\bSEND=1(?: \(--send-variables\))?", "--send-variables"),
    (r"\bLINKS=1(?: \(--follow-links\))?", "--follow-links"),
    (r"\b(FILL|OVERWRITE)=1", lambda found: f"--{found[1].lower()}"),
    (r"\b(CONFIG|SYSTEM|OUT)=", lambda found: f"--{found[1].lower()} "),
    (r"\b(another|give|instead of) (CONFIG|EXPERIMENT|REPORT|OUT)\b", lambda found: f"{found[1]} --{found[2].lower()}"),
)


class _Parser(argparse.ArgumentParser):
    """Reports a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        print(f"error: {message}; {self.prog} --help shows the options", file=sys.stderr)
        sys.exit(REFUSED)


def parser() -> argparse.ArgumentParser:
    """The options of all commands."""
    made = _Parser(prog="ranktrial", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--version", action="version", version=f"ranktrial {VERSION}")
    commands = made.add_subparsers(metavar="COMMAND", required=True)
    one = commands.add_parser(
        "compare",
        help="compare systems by their scores, or by runs and judgements",
        description="Compare two systems, or many, by scores per query or sample, or by runs and their judgements.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    one.add_argument("files", nargs="+", metavar="FILE", help="of scores, or runs and qrels; or a folder of them")
    one.add_argument("--measure", default="", help="to compare, where there are several (runs: nDCG@10 by default)")
    one.add_argument("--columns", default="", choices=("systems", "tasks", "measures"), help="what the columns are")
    against = "that the others are compared with; without it, of more than two all pairs are compared"
    one.add_argument("--control", metavar="SYSTEM", help=against)
    one.add_argument("--treatment", metavar="SYSTEM", action="append", help="to compare; by default all (repeatable)")
    one.add_argument("--lower-is-better", action="store_true", help="of the measure")
    one.add_argument("--effect", help="MD (mean difference, the default), SMD, d_av or CORR")
    one.add_argument("--alpha", type=float, help="level of significance (0.05)")
    one.add_argument("--margin", type=float, help="the smallest difference that matters: tests equivalence")
    one.add_argument("--title", default="", help="of the page")
    one.add_argument("--out", type=Path, metavar="FOLDER", help="write report.html, explorer, figures and tables there")
    one.add_argument("--queries", metavar="FILE", help="with --out: their texts, JSON lines with _id and text")
    one.add_argument("--documents", metavar="FILE", help="with --out: their texts, likewise")
    one.add_argument("--json", action="store_true", help="print all numbers as JSON in place of sentences")
    one.set_defaults(command=compare)
    new = commands.add_parser(
        "new",
        help="write a configuration of the workflow for a folder of data",
        description="Inspect a folder with a collection, runs or scores, and write a configuration for it.",
        epilog=EXAMPLES_OF_NEW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    new.add_argument("folder", metavar="FOLDER")
    new.add_argument("--measure", default="", help="what the values of files of scores are, such as accuracy")
    new.add_argument("--columns", default="", choices=("systems", "tasks", "measures"), help="what the columns are")
    new.add_argument("--out", type=Path, metavar="FILE", help="the configuration; by default config/FOLDER.yaml")
    new.set_defaults(command=new_configuration)
    for name, (_, _, help_text) in SCRIPTS.items():
        commands.add_parser(name, help=help_text, add_help=False)
    return made


def run_script(name: str, words: Sequence[str]) -> None:
    """Run a command of the workflow, a script with options of its own."""
    script, options, _ = SCRIPTS[name]
    sys.path.insert(0, str(HOME))
    sys.argv = [f"ranktrial {name}", *options, *words]
    module = importlib.import_module(f"scripts.{script}")
    if not hasattr(module, "argparse"):  # without options of its own
        raw = argparse.RawDescriptionHelpFormatter
        _Parser(prog=f"ranktrial {name}", description=module.__doc__, formatter_class=raw).parse_args(words)
    sys.exit(module.main())


def compare(options: argparse.Namespace) -> None:
    """Print what is found, and write it to the folder that is asked for."""
    if (options.queries or options.documents) and not options.out:
        raise UserError("--queries and --documents are texts for the page; expected --out FOLDER as well")
    found, left = _found(options)
    for line in found.warnings:
        _as_note(line)
    if options.out:
        written = found.write(options.out, options.title, options.queries, options.documents)
        folders = sorted({f"{file.relative_to(options.out).parts[0]}/" for file in written[:-1]})
        print(f"written: {written[-1]}, {', '.join(folders)}", file=sys.stderr)
    elif not options.json:
        print("note: --out FOLDER writes the page, the forest plot and the tables", file=sys.stderr)
    numbers = found.numbers() | {"warnings": [*left, *found.warnings]}
    print(json.dumps(numbers, indent=2, allow_nan=False) if options.json else found.sentence())


def _found(options: argparse.Namespace) -> tuple[Findings, list[str]]:
    """The findings, and what is left out; how the files were read is said before, since it explains what is refused."""
    from ranktrial.api.comparing import compare as compare_systems
    from ranktrial.api.reading import gathered

    given = gathered(options.files, options.measure, options.columns)
    for line in (*given.said, *given.left):
        _as_note(as_options(line))
    how = {"control": options.control, "treatment": options.treatment, "lower_is_better": options.lower_is_better}
    stated = {name: getattr(options, name) for name in ("effect", "alpha", "margin")}
    how |= {name: value for name, value in stated.items() if value is not None}
    if given.scores is not None:
        return compare_systems(given.scores, **how), given.left
    return compare_systems(given.runs, qrels=given.qrels, measure=options.measure or None, **how), given.left


def new_configuration(options: argparse.Namespace) -> None:
    """Write a configuration, and print what was found."""
    from ranktrial.new.front import write_configuration

    print(as_options("\n".join(write_configuration(options.folder, options.measure, options.columns, options.out))))


def as_options(text: str) -> str:
    """A message with this command's options, in place of arguments and, unless make runs it, of make's variables."""
    from ranktrial.api.reading import as_arguments

    if "RANKTRIAL_MAKE" in os.environ:
        return text
    for named, option in OF_MAKE:
        text = re.sub(named, option, text)
    given = re.compile(r'\b(measure|columns|out)="([^"]*)"')
    return given.sub(lambda found: f"--{found[1]} {shlex.quote(found[2])}", as_arguments(text))


def _as_note(message: Warning | str, *_: object, **__: object) -> None:
    print(f"note: {message}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; bad input is one line on standard error, and exit code 2."""
    ensure_utf8()
    try:
        with names_extras(), warnings.catch_warnings():
            warnings.showwarning = _as_note  # in place of the line of code
            words = sys.argv[1:] if arguments is None else list(arguments)
            if words[:1] and words[0] in SCRIPTS:
                run_script(words[0], words[1:])
            options = parser().parse_args(words)
            options.command(options)
    except UserError as error:
        print(f"error: {as_options(str(error))}", file=sys.stderr)
        sys.exit(REFUSED)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error}", file=sys.stderr)
        sys.exit(REFUSED)


if __name__ == "__main__":
    main()
