"""Rankers of the user's: their program, or Python class, is trained, and ranks the queries of a task.

Reads the corpus, the queries, a first stage's run and what was learnt. The program gets paths of these, and of places
in a temporary folder, where it writes. Its run is checked, cut and written anew with its timing; what it learnt is a
folder.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError, shortened
from ranktrial.common.files import atomic_folder, write_json
from ranktrial.common.processes import threads
from ranktrial.common.programs import PLACEHOLDER, Measured, Value, is_among, run_program
from ranktrial.common.timing import latency, write_timing
from ranktrial.ir.collection import Excluded, most, read_excluded, read_ids, read_queries, read_texts, without
from ranktrial.ir.runs import order_warning
from ranktrial.ir.trec import Run, read_run, top, write_run

GPUS = Path("/proc/driver/nvidia/gpus")
RUNNER = Path(__file__).with_name("runner.py")
Files = Mapping[str, Path | None]


@dataclass(frozen=True, kw_only=True)
class Program:
    """The program or class, and where it runs."""

    system: str
    command: Annotated[list[str], "the words of the program; empty for a class"] = field(default_factory=list)
    ranker: Annotated[str | None, "a Python class, package.module:Class"] = None
    parameters: dict[str, Value] = field(default_factory=dict)
    seed: int | None = None
    threads: Annotated[int | None, "those asked for, if a word has them: with others, it is another command"] = None
    gpu: bool = False
    candidates: Annotated[int, "documents per query of the first stage that are re-ranked"] = 0
    python: Annotated[str | None, "the Python of its environment"] = None
    conda: Annotated[str | None, "name or folder of its environment"] = None
    container: Annotated[str | None, "an image of Apptainer"] = None
    versions: Annotated[dict[str, str], "the packages of its environment"] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Where the configuration has it."""
        return f"systems.{self.system}"


@dataclass(frozen=True, kw_only=True)
class Ranking(Program):
    depth: Annotated[int, "documents per query that are kept"]
    tag: Annotated[str, "the run's name, its last column"]


def run_command(
    corpus: Path, queries: Path, code: list[Path], run: Path, timing: Path, settings: Ranking,
    first_stage: Path | None = None, model: Path | None = None,
) -> None:  # fmt: skip
    """Let the ranker rank the queries of a task; write its checked run and its timing."""
    text_of, excluded = read_queries(queries), read_excluded(queries)
    if not text_of:
        raise UserError(f"{queries}: no query to rank for; the dataset lacks this split")
    depth = settings.depth + most(excluded)
    with workplace() as work:
        candidates = shortened_run(first_stage, work, settings.candidates)
        files = {"corpus": corpus, "queries": queries, "model": model, "run": work / "run.trec"}
        measured, facts = call(settings, files | {"first_stage": candidates}, code, work, depth)
        ranked = checked_run(files["run"], settings.key, set(text_of), corpus, candidates)
    kept = cut(ranked, excluded, settings.depth)
    if empty := [query for query in text_of if not kept.get(query)]:
        print(f"{len(empty)} queries find nothing, such as {empty[0]}", file=sys.stderr)
    write_run(run, kept, settings.tag, [query for query in text_of if query in kept])
    seconds, singles = facts.pop("seconds", measured.seconds), facts.pop("singles", [])
    write_timing(
        timing, method="command", depth=settings.depth, queries=len(text_of), seconds=seconds,
        queries_per_second=len(text_of) / seconds, **({"latency_ms": latency(singles)} if singles else {}),
        **{name: value for name, value in facts.items() if value is not None}, **of_process(settings, measured, facts),
    )  # fmt: skip


def train_command(
    corpus: Path, queries: Path, qrels: Path, code: list[Path], model: Path, timing: Path, settings: Program,
    dev_queries: Path | None = None, dev_qrels: Path | None = None, first_stage: Path | None = None,
) -> None:  # fmt: skip
    """Let the ranker learn from training queries; write the folder that it filled, and the timing."""
    with atomic_folder(model) as folder, workplace() as work:
        files = {
            "corpus": corpus, "queries": queries, "qrels": qrels, "model": folder, "dev_queries": dev_queries,
            "dev_qrels": dev_qrels, "first_stage": shortened_run(first_stage, work, settings.candidates),
        }  # fmt: skip
        measured, facts = call(settings, files, code, work)
        if not any(folder.iterdir()):
            raise UserError(f"{settings.key}.train: its program ended without an error, but wrote nothing to {{model}}")
    seconds = facts.pop("seconds", measured.seconds)
    write_timing(timing, method="command", seconds=seconds, **facts, **of_process(settings, measured, facts))


@contextmanager
def workplace() -> Iterator[Path]:
    """A temporary folder for what the program writes."""
    with tempfile.TemporaryDirectory(prefix="ranktrial-command-") as name:
        yield Path(name)


def shortened_run(first_stage: Path | None, work: Path, depth: int) -> Path | None:
    """The candidates: the best documents of each query of a first stage's run, as a plain file; None without one."""
    if first_stage is None:
        return None
    path = work / "first_stage.trec"
    write_run(path, {query: top(scores, depth) for query, scores in read_run(first_stage).items()}, "first_stage")
    return path


def call(
    settings: Program, files: Files, code: list[Path], work: Path, depth: int | None = None
) -> tuple[Measured, dict[str, Any]]:
    """Run the program, or the runner with the class; returns what it took and what the runner measured."""
    there = {name: path for name, path in files.items() if path is not None}
    if settings.ranker is None:
        measured = run_program(words_of(settings, there, work, depth), environment(settings, work), settings.key)
        return measured, {}
    facts, request = work / "facts.json", work / "request.json"
    trains = "qrels" in there
    asked = {name: str(path) for name, path in (there | {"facts": facts}).items()}
    arguments: dict[str, Any] = dict(settings.parameters)
    arguments |= {} if settings.seed is None else {"seed": settings.seed}
    arguments |= {"model": str(there["model"])} if "model" in there and not trains else {}
    asked |= {"ranker": settings.ranker, "arguments": arguments, "seed": settings.seed, "k": depth}
    write_json(request, asked)
    measured = run_program(
        placed(settings, ["python", str(RUNNER), str(request)], work), environment(settings, work), settings.key
    )
    found = json.loads(facts.read_text(encoding="utf-8"))
    known = [path.as_posix() for path in code]
    if other := next((file for file in found.pop("imported") if not is_among(file, known)), None):
        raise UserError(f"{settings.key}.code: {other} was imported, and an edit would not be noticed: name it there")
    return measured, found | {"program_seconds": measured.seconds}


def words_of(settings: Program, files: Mapping[str, Path], work: Path, depth: int | None) -> list[str]:
    """The words of the program with the placeholders filled; tables of texts are written if one asks for them."""
    values: dict[str, object] = {**settings.parameters, **files, "work": work, "threads": threads()}
    values |= {"depth": depth, "seed": settings.seed, "gpus": int(settings.gpu)}
    asked = {name for word in settings.command for name in PLACEHOLDER.findall(word)}
    for name in ("corpus", "queries"):
        if f"{name}_tsv" in asked:
            values[f"{name}_tsv"] = work / f"{name}.tsv"
            lines = (f"{text_id}\t{' '.join(text.split())}\n" for text_id, text in read_texts(files[name]))
            with open(work / f"{name}.tsv", "w", encoding="utf-8") as file:
                file.writelines(lines)
    filled = [PLACEHOLDER.sub(lambda found: str(values[found[1]]), word) for word in settings.command]
    return placed(settings, filled, work)


def placed(settings: Program, words: list[str], work: Path) -> list[str]:
    """The words that run the program in its environment."""
    if settings.conda:
        option = "-p" if "/" in settings.conda else "-n"
        return ["conda", "run", "--no-capture-output", option, settings.conda, *words]
    if settings.container:
        gpu = ["--nv"] if settings.gpu else []
        return ["apptainer", "exec", *gpu, "--bind", str(work), settings.container, *words]
    if words[0] == "python":
        return [os.path.abspath(settings.python) if settings.python else sys.executable, *words[1:]]
    return words


def environment(settings: Program, work: Path) -> dict[str, str]:
    """The environment of the program: the job's, with seed, threads, and the GPU if it uses one."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # which leads to our sources
    found |= {"TMPDIR": str(work), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": str(settings.seed or 0)}
    found |= {"RANKTRIAL_THREADS": str(threads()), "RANKTRIAL_GPUS": str(int(settings.gpu))}
    found |= {} if settings.seed is None else {"RANKTRIAL_SEED": str(settings.seed)}
    found |= {} if settings.gpu else {"CUDA_VISIBLE_DEVICES": ""}
    if settings.python:
        folder = Path(settings.python).absolute().parent
        if not Path(settings.python).exists():
            raise UserError(f"{settings.key}.python: no file {settings.python!r}")
        found["PATH"] = os.pathsep.join([str(folder), found.get("PATH", os.defpath)])
    return found


def checked_run(path: Path, key: str, queries: set[str], corpus: Path, first_stage: Path | None) -> Run:
    """The run that the program wrote. Raises UserError unless its queries and documents are those that it was given."""
    who = f"{key}: its run"
    if not path.is_file():
        raise UserError(f"{key}: its program ended without an error, but wrote no run to {{run}}")
    try:
        ranked = read_run(path)
        order = order_warning(path)
    except UserError as error:
        raise UserError(str(error).replace(str(path), who)) from None
    if not ranked:
        raise UserError(f"{who} is empty")
    if unknown := sorted(ranked.keys() - queries):
        raise UserError(f"{who} has unknown queries: {len(unknown)}, such as {shortened(unknown[0])}")
    if first_stage is None:
        documents = {document for scores in ranked.values() for document in scores}
        if alien := sorted(documents.difference(read_ids(corpus))):
            raise UserError(f"{who} has documents that the corpus lacks: {len(alien)}, such as {shortened(alien[0])}")
    else:
        candidates = read_run(first_stage)
        for query, scores in ranked.items():
            if others := scores.keys() - candidates.get(query, {}).keys():
                problem = f"has {shortened(min(others))} for query {query}, which is none of its candidates"
                raise UserError(f"{who} {problem}")
    if order:
        print(f"{who}: {order}", file=sys.stderr)
    return ranked


def cut(ranked: Run, excluded: Excluded, depth: int) -> Run:
    """The best documents of each query, without excluded ones."""
    kept = {query: top(without(scores, excluded.get(query, ())), depth) for query, scores in ranked.items()}
    return {query: scores for query, scores in kept.items() if scores}


def of_process(settings: Program, measured: Measured, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The machine of the timing as the program used it."""
    device = {"device": gpu_name()} if settings.gpu and "device" not in facts else {}
    own = {} if "versions" in facts else {"versions": settings.versions}
    return {"threads": threads(), "peak_rss_bytes": measured.peak_rss_bytes, **device, **own}


def gpu_name() -> str:
    """The model of this machine's first GPU, as its driver reports it."""
    for file in sorted(GPUS.glob("*/information")):
        return file.read_text().partition("Model:")[2].partition("\n")[0].strip()
    return "cpu"


if __name__ == "__main__":
    job(run_command, train_command)
