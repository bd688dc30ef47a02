"""Table of what the systems cost: latency a query, throughput, memory, training time.

Reads the timing.json beside each run, and of each checkpoint and encoding. Writes a TSV, a row a task, system and seed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text


def read(path: Path | None) -> dict:
    """A timing file's figures; nothing for a file that a system does not have."""
    return json.loads(path.read_text()) if path else {}


def row(run_timing: Path, system: dict) -> dict:
    """One row. `system` gives the checkpoint's and the encoding's timing files where there are any."""
    ranked = read(run_timing)
    training = read(Path(system["training"])) if system.get("training") else {}
    encoding = read(Path(system["encoding"])) if system.get("encoding") else {}
    latency = ranked.get("latency_ms", {})
    return {
        "task": run_timing.parts[-3],
        "system": run_timing.parts[-2],
        "seed": run_timing.name.removeprefix("seed-").split(".")[0],
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
    }


def main() -> None:
    arguments = parser(__doc__, "timing*", "table").parse_args()
    beside = arguments.settings["beside"]
    table = pd.DataFrame([row(path, beside.get(str(path), {})) for path in arguments.timing])
    with atomic_text(arguments.table) as file:
        table.to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
