"""Table of what the systems cost: latency per query, throughput, memory, training, energy, bytes of index and weights.

Reads the timing.json beside each run, and of each checkpoint and encoding. Writes a TSV, one row per task, system and
seed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.experiment.results_paths import fields_of

OF_CALLS = ("calls", "prompt_tokens", "completion_tokens", "cost")  # columns where a system asks an endpoint


SIZES = {"index_mb": "index_bytes", "weights_mb": "weights_bytes"}  # columns where a model ranks: keys of timings


@dataclass(frozen=True)
class Beside:
    """The timing files of what a run needed; None where it needed none."""

    training: str | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class Settings:
    """Which timing files belong together."""

    beside: Annotated[dict[str, Beside], "timing file of a run: those of its checkpoint and its encoding"]


def read(path: str | Path | None) -> dict:
    """A timing file's figures; empty where a system has no such file."""
    return json.loads(Path(path).read_text()) if path else {}


def counted(timing: dict) -> dict[str, float]:
    """The joules of a timing by counter; empty where the machine has none that can be read."""
    return timing.get("energy_joules", {})


def row(run_timing: Path, beside: Beside) -> dict:
    """One row: a run with its checkpoint and its encoding."""
    ranked, training, encoding = read(run_timing), read(beside.training), read(beside.encoding)
    latency = ranked.get("latency_ms", {})
    fields = fields_of("run_timing", run_timing)
    energy = {"": ranked, "encoding_": encoding, "training_": training}
    return {
        "task": fields["task"],
        "system": fields["system"],
        "seed": fields["seed"],
        "seconds": ranked.get("seconds"),
        "encoding_seconds": encoding.get("seconds"),
        "latency_mean_ms": latency.get("mean"),
        "latency_p50_ms": latency.get("p50"),
        "latency_p95_ms": latency.get("p95"),
        "queries_per_second": ranked.get("queries_per_second"),
        "pairs_per_second": ranked.get("pairs_per_second"),
        "encoded_documents_per_second": encoding.get("documents_per_second"),
        "training_seconds": training.get("seconds"),
        "peak_rss_mb": ranked["peak_rss_bytes"] / 1e6,
        "peak_gpu_mb": ranked["peak_gpu_bytes"] / 1e6,
        "device": ranked["device"],
        "threads": ranked["threads"],
        "precision": ranked.get("precision"),
        **{f"{work}{name}_joules": used for work, timing in energy.items() for name, used in counted(timing).items()},
        **{key: ranked[key] for key in ("truncate_dim",) if key in ranked},
        **{key: ranked[key] for key in OF_CALLS if key in ranked},
        **{column: size / 1e6 for column, key in SIZES.items() if (size := ranked.get(key, encoding.get(key)))},
    }


def main() -> None:
    arguments = parser(__doc__, "timing*", "table", settings=Settings).parse_args()
    beside = arguments.settings.beside
    table = pd.DataFrame([row(path, beside.get(str(path), Beside())) for path in arguments.timing])
    with atomic_text(arguments.table) as file:
        table.to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
