"""How long Snakemake plans: `python -m tests.benchmark.plans` times dry runs of experiments of growing numbers of jobs.

An experiment has ten drawn collections, a model, so many recipes with five seeds each, and a comparison a recipe. With
`--finished` the same of experiments whose files are all there: empty ones, which `snakemake --touch` takes for results.
"""

import argparse
import re
import resource
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.support.tiny_bert import build
from tests.workflow.conftest import REPOSITORY, Workspace, copy, write_collection

COLLECTIONS, SEEDS = 10, 5
FOLDERS = ("index", "weights", "fine_tune")  # rules that make a folder, and a file with an ending beside it


class Planned(NamedTuple):
    """A dry run: its jobs, and the seconds and processor seconds that it took."""

    jobs: int
    finished: bool
    seconds: float
    processor_seconds: float


def config(recipes: int) -> dict[str, Any]:
    """The experiment with so many recipes."""
    names = [f"r{n}" for n in range(recipes)]
    datasets = [f"s{n}" for n in range(COLLECTIONS)]
    return {
        "experiment": f"plan-{recipes}",
        "measures": ["nDCG@10"],
        "depth": 20,
        "datasets": {name: {"format": "beir", "location": f"data/{name}"} for name in datasets},
        "models": {"bert": {"type": "bi-encoder", "weights": "weights/tiny", "max_length": 16}},
        "recipes": {
            name: {"train_on": f"s{n % COLLECTIONS}", "learning_rate": 1e-4 * (n + 1)} for n, name in enumerate(names)
        },
        "systems": {
            "bm25": {"type": "bm25"},
            "zero-shot": {"model": "bert"},
            **{f"t-{name}": {"model": "bert", "recipe": name, "seeds": SEEDS} for name in names},
        },
        "tasks": datasets,
        "comparisons": {f"c-{name}": {"control": "zero-shot", "treatment": f"t-{name}"} for name in names},
    }


def sharded(models: int = 12) -> dict[str, Any]:
    """An experiment with so many models, of which each encodes and searches a collection in a hundred jobs."""
    names = [f"m{n}" for n in range(models)]
    made = config(1)
    return made | {
        "experiment": f"shards-{models}",
        "shards": 100,
        "models": {name: made["models"]["bert"] for name in names},
        "recipes": {},
        "systems": {"bm25": {"type": "bm25"}, **{name: {"model": name} for name in names}},
        "tasks": ["s0"],
        "comparisons": {f"c-{name}": {"control": "bm25", "treatment": name} for name in names},
    }


def prepare(folder: Path) -> Workspace:
    """The workflow with the collections and the model."""
    shutil.rmtree(folder, ignore_errors=True)
    workspace = copy(REPOSITORY, folder)
    texts = [text for n in range(COLLECTIONS) for text in write_collection(folder / "data" / f"s{n}", seed=n)]
    build(folder / "weights" / "tiny", texts, seed=1)
    return workspace


def run(workspace: Workspace, *options: str, name: str) -> str:
    """What Snakemake prints. Raises RuntimeError with its end where it fails."""
    done = workspace.snakemake(*options, config=name)
    if done.returncode:
        raise RuntimeError(f"{name}: {(done.stdout + done.stderr)[-2000:]}")
    return str(done.stdout + done.stderr)


def planned(workspace: Workspace, name: str, jobs: int | None = None) -> Planned:
    """A timed dry run; `jobs` of a finished experiment, which prints none."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    said = run(workspace, "--dry-run", name=name)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    reported = re.search(r"^total +(\d+)$", said, re.MULTILINE)
    if (reported is None) != (jobs is not None):
        raise RuntimeError(f"{name}: {'jobs are' if reported else 'nothing is'} left to do:\n{said[-2000:]}")
    return Planned(int(reported[1]) if reported else jobs or 0, jobs is not None, seconds, used)


def finish(workspace: Workspace, name: str) -> None:
    """Make every file of an experiment, without content, and let Snakemake take it for a result."""
    for line in run(workspace, "--summary", name=name).splitlines():
        fields = line.split("\t")
        if len(fields) < 3 or not fields[0].startswith("results/"):
            continue
        file = workspace.folder / fields[0]
        is_folder = fields[2] in FOLDERS and not file.name.endswith((".json", ".tsv"))
        (file if is_folder else file.parent).mkdir(parents=True, exist_ok=True)
        (file / "content" if is_folder else file).write_text("x")
    run(workspace, "--touch", name=name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*", type=int, default=[5, 21, 80], help="how many, of each experiment")
    parser.add_argument(
        "--finished", action="store_true", help="also plan them when finished (a tenth of a second per job)"
    )
    parser.add_argument("--folder", type=Path, default=Path("results/growth/plans"))
    options = parser.parse_args()
    workspace, taken = prepare(options.folder), []
    print("\t".join(Planned._fields))
    for recipes in options.recipes:
        name = f"plan-{recipes}.yaml"
        workspace.write_config(config(recipes), name)
        taken.append(planned(workspace, name))
        print("\t".join(map(str, taken[-1])), flush=True)
        if options.finished:
            finish(workspace, name)
            print("\t".join(map(str, planned(workspace, name, taken[-1].jobs))), flush=True)
    workspace.write_config(sharded(), "shards.yaml")
    print("\t".join(map(str, planned(workspace, "shards.yaml"))), flush=True)
    if len(taken) > 1:
        slope = np.polyfit(np.log([one.jobs for one in taken]), np.log([one.seconds for one in taken]), 1)[0]
        print(f"exponent {slope:.2f}")


if __name__ == "__main__":
    main()
