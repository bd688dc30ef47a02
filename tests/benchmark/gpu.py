"""What a card takes with a library and with ours, in turn: `python -m tests.benchmark.gpu` (make benchmark-gpu).

Encoding, re-ranking and training of BERTs of two sizes, and exact search. All is done in one process, so that a card is
held for about ten minutes; a row is printed, and appended to results/gpu/gpu.tsv, as soon as it is measured, so that an
interrupted run leaves rows. Weights are drawn: neither time nor memory depends on their values. With --small it shows on
any machine that it works, not how fast.
"""

import argparse
import gc
import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from ranktrial.common.timing import joules, machine, now
from ranktrial.models import running  # noqa: F401 - first: it sets what the libraries read while they are imported
from tests.benchmark import inputs, limits
from tests.benchmark.row import Result, Work
from tests.benchmark.rows import encoding, exact_search, reranking, training, training_cross_encoder
from tests.benchmark.sizes import Size, build

HEAD = (
    "task",
    "model",
    "side",
    "units",
    "seconds",
    "per second",
    "ratio",
    "peak GB",
    "joules",
    "GEMM share",
    "agreement",
)
SIZES = {"MiniLM-L6": Size(6, 384, 12), "BERT-base": Size(12, 768, 12)}
TEXTS, PAIRS, EXAMPLES = 20_000, 20_000, 3_200
SMALL = {"MiniLM-L6": Size(1, 48, 2)}


@dataclass(frozen=True)
class Task:
    """One task on one model: what prepares its inputs, its sides (the library first), operations, and agreement."""

    name: str
    model: str
    prepare: Callable[[Path], int]
    sides: dict[str, Callable[[Path], Work]]
    operations: Callable[[Path], float] | None
    agree: Callable[[Result, Result], str]


def texts(count: int) -> list[str]:
    """Distinct texts with the words of insurance answers, and their lengths, in another order."""
    drawn, documents = random.Random(1), inputs.documents()
    shuffled = []
    for number in range(count):
        words = documents[number % len(documents)].split()
        drawn.shuffle(words)
        shuffled.append(" ".join(words))
    return shuffled


def given(folder: Path, model: Path, **lists: list) -> None:
    (folder / "texts.json").write_text(json.dumps({"checkpoint": str(model), **lists}))


def of_texts(models: Path, count: int, folder: Path) -> int:
    given(folder, models / "bi-encoder", documents=texts(count))
    return count


def of_pairs(models: Path, count: int, folder: Path) -> int:
    asked, candidates = inputs.queries(), texts(count)
    given(
        folder,
        models / "cross-encoder",
        pairs=[(asked[n // 100 % len(asked)], text) for n, text in enumerate(candidates)],
    )
    (folder / "model").symlink_to(models / "cross-encoder")
    return count


def of_examples(models: Path, count: int, folder: Path) -> int:
    """Questions and answers, each question with one answer; words are shuffled where there are too few."""
    drawn, asked, answers = random.Random(2), inputs.queries("train"), texts(count)
    queries = []
    for number in range(count):
        words = asked[number % len(asked)].split()
        if number >= len(asked):
            drawn.shuffle(words)
        queries.append(" ".join([*words, *(["again"] * (number // len(asked)))]))
    given(folder, models / "bi-encoder", anchors=queries, positives=answers)
    return count


def of_labelled(models: Path, count: int, folder: Path) -> int:
    of_examples(models, count, folder)
    found = json.loads((folder / "texts.json").read_text())
    given(folder, models / "cross-encoder", queries=found["anchors"], documents=found["positives"],
          labels=[float(n % 2) for n in range(count)])  # fmt: skip
    (folder / "model").symlink_to(models / "cross-encoder")
    return count


def cosines(plain: Result, ours: Result) -> str:
    one, other = plain["vectors"], ours["vectors"]
    return f"mean cosine {float((one * other).sum(axis=1).mean()):.5f}"


def correlation(plain: Result, ours: Result) -> str:
    return f"correlation {float(np.corrcoef(plain['scores'], ours['scores'])[0, 1]):.5f}"


def means(plain: Result, ours: Result) -> str:
    one, other = plain["losses"], ours["losses"]
    return f"mean loss {one.mean():.3f} and {other.mean():.3f}"


def documents(plain: Result, ours: Result) -> str:
    shared = np.mean([len(np.intersect1d(a, b)) for a, b in zip(plain["rows"], ours["rows"], strict=True)])
    return f"{shared:.2f} of {plain['rows'].shape[1]} documents shared"


def trained(row: Any, precision: str | None, folder: Path) -> Work:
    return training.losses(folder, partial(row.by_us, precision=precision))


def documented(row: Any, precision: str, folder: Path) -> Work:
    return training.losses(folder, partial(row.by_library, precision=precision))


def sides_of_training(row: Any, every: bool) -> dict[str, Callable[[Path], Work]]:
    """The library in fp32 and bf16, and ours by default, or in every precision."""
    precisions = ("fp32", "tf32", "bf16") if every and limits.on_gpu() else ()
    return {
        "library, fp32": partial(documented, row, "fp32"),
        "library, bf16": partial(documented, row, "bf16"),
        "ours": partial(trained, row, None),
        **{f"ours, {precision}": partial(trained, row, precision) for precision in precisions},
    }


def by_topk(folder: Path) -> Work:
    """Exact search as one writes it with torch: products of all queries with blocks of documents, and torch.topk."""
    import torch

    from ranktrial.models.running import device

    stored, asked = (np.load(folder / f"{name}.npy") for name in ("documents", "queries"))

    def work() -> Result:
        vectors, best = torch.from_numpy(asked).to(device()), None
        for first in range(0, len(stored), 65536):
            block = torch.from_numpy(stored[first : first + 65536]).to(device())
            for place in range(0, len(asked), 1024):
                found = (vectors[place : place + 1024] @ block.T).topk(min(1000, len(block)))
                part = (found.values, found.indices + first)
                best = best or {}
                if place in best:
                    part = tuple(torch.cat(both, dim=1) for both in zip(best[place], part, strict=True))
                    kept = part[0].topk(min(1000, part[0].shape[1]))
                    part = (kept.values, part[1].gather(1, kept.indices))
                best[place] = part
        assert best is not None
        scores, rows = (torch.cat([one[n] for one in best.values()]).cpu().numpy() for n in (0, 1))
        return {"scores": scores, "rows": rows}

    return work


def tasks(models: Path, share: float, every: bool) -> Iterator[Task]:
    """All that is measured, in order; `share` of the full numbers of texts, pairs and examples."""
    for model in sorted(path.name for path in models.iterdir()):
        its = models / model
        for kind, row, prepare in (
            ("bi-encoder", training, of_examples),
            ("cross-encoder", training_cross_encoder, of_labelled),
        ):
            sides = sides_of_training(row, every)
            yield Task(
                f"train a {kind}", model, partial(prepare, its, int(EXAMPLES * share)), sides, row.operations, means
            )
        sides = {
            "library, fp32": encoding.plain,
            "library, bf16": partial(encoding.plain, precision="bf16"),
            "ours": encoding.ours,
        }
        yield Task("encode", model, partial(of_texts, its, int(TEXTS * share)), sides, encoding.operations, cosines)
        sides = {
            "library, fp32": reranking.plain,
            "library, bf16": partial(reranking.plain, precision="bf16"),
            "ours": reranking.ours,
        }
        yield Task(
            "re-rank", model, partial(of_pairs, its, int(PAIRS * share)), sides, reranking.operations, correlation
        )
    prepare = partial(exact_search.prepare, small=share < 1)
    yield Task(
        "search",
        "384 dimensions",
        prepare,
        {"torch.topk": by_topk, "ours": exact_search.ours},
        exact_search.operations,
        documents,
    )


def peak_bytes() -> int:
    return int(machine()["peak_gpu_bytes"] or machine()["peak_rss_bytes"])


def take(work: Work) -> tuple[Result, float, float | None]:
    """The result of one run, its seconds, and the joules of the card, if it counts them."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    before, start = joules(), now()
    result = work()
    seconds, after = now() - start, joules()
    return result, seconds, after["gpu"] - before["gpu"] if "gpu" in before and "gpu" in after else None


def measured(task: Task, folder: Path, repeats: int, rate: float) -> Iterator[tuple[str, ...]]:
    """The lines of a task: its sides in turn, `repeats` times, after one run of each on a few inputs."""
    import torch

    count = task.prepare(folder)
    sides = {side: ready for side, ready in task.sides.items() if "bf16" not in side or limits.on_gpu()}
    runs: dict[str, list[tuple[float, float | None, int]]] = {side: [] for side in sides}
    results: dict[str, Result] = {}
    for _ in range(repeats):
        for side, ready in sides.items():
            work = ready(folder)
            results[side], seconds, energy = take(work)
            runs[side].append((seconds, energy, peak_bytes()))
            del work
            gc.collect()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
    first = next(iter(sides))
    plain = median(seconds for seconds, _, _ in runs[first])
    needed = task.operations(folder) if task.operations else None
    for side, its in runs.items():
        seconds = median(one for one, _, _ in its)
        counted = [one for _, one, _ in its if one is not None]
        spread = "/".join(f"{one:.2f}" for one, _, _ in its)
        yield (
            task.name, task.model, side, str(count), spread, f"{count / seconds:.0f}", f"{plain / seconds:.2f}",
            f"{max(one for _, _, one in its) / 1e9:.1f}", f"{median(counted):.0f}" if counted else "",
            f"{needed / seconds / rate:.1%}" if needed else "", "" if side == first else task.agree(results[first], results[side]),
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", help="those whose name or model contains one of these words; all if none")
    parser.add_argument("--repeats", type=int, default=2, help="times that each side runs, in turn with the others")
    parser.add_argument("--every", action="store_true", help="train in every precision")
    parser.add_argument("--small", action="store_true", help="few inputs: to see that it works, not how fast")
    parser.add_argument("--share", type=float, default=1.0, help="share of the full number of texts")
    parser.add_argument("--folder", type=Path, default=Path("results/gpu"), help="for models, inputs and the table")
    options = parser.parse_args()
    folder: Path = options.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    begun = time.perf_counter()
    for name, size in (SMALL if options.small else SIZES).items():
        for kind in ("bi-encoder", "cross-encoder"):
            (folder / "models" / name).mkdir(parents=True, exist_ok=True)
            build(folder / "models" / name / kind, kind, size)
    for plain in (folder / "models").glob("*/*-plain"):
        shutil.rmtree(plain)
    rate = limits.product_rate()
    facts = {"machine": machine(), "gemm_per_second": rate, "copied_per_second": limits.copy_rate()}
    (folder / "gpu.json").write_text(json.dumps(facts, indent=1) + "\n")
    print(json.dumps(facts), flush=True)
    print("\t".join(HEAD), flush=True)
    wanted: list[str] = options.tasks
    for number, task in enumerate(tasks(folder / "models", 0.004 if options.small else options.share, options.every)):
        if wanted and not any(word in f"{task.name} {task.model}" for word in wanted):
            continue
        its = folder / f"{number}"
        its.mkdir()
        for line in measured(task, its, options.repeats, rate):
            with open(folder / "gpu.tsv", "a") as file:
                file.write("\t".join(line) + "\n")
            print("\t".join(line), flush=True)
        shutil.rmtree(its)
    print(f"{time.perf_counter() - begun:.0f} s in all", file=sys.stderr)


if __name__ == "__main__":
    main()
