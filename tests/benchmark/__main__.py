"""The benchmark: `python -m tests.benchmark [ROW ...]` (make benchmark) prints a table and writes it below results/.

It needs what `make prepare` fetches for config/insurance.yaml: texts and a model. Nothing else may run beside it.
"""

import argparse
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from ranktrial.common.timing import machine
from tests.benchmark.limits import copy_rate, product_rate
from tests.benchmark.pairing import Measured, compare
from tests.benchmark.row import lacking, names, row

HEAD = ("row", "side", "units per second", "seconds", "ratio", "processor s", "peak MB", "GEMM share", "agreement")


@dataclass(frozen=True)
class Line:
    """A line of the table: one side of a row."""

    row: str
    side: str
    units_per_second: float
    seconds: float
    runs: list[float]
    ratio: float
    processor_seconds: float
    peak_mb: float
    of_products: float | None  # the share of peak GEMM throughput that the useful operations reach
    agreement: str

    def cells(self) -> list[str]:
        numbers = (self.units_per_second, self.seconds, self.ratio, self.processor_seconds, self.peak_mb)
        share = "" if self.of_products is None else f"{self.of_products:.0%}"
        return [self.row, self.side, *(f"{number:.3g}" for number in numbers), share, self.agreement]


def lines(name: str, count: int, sides: dict[str, Measured], seconds_of_products: float | None) -> list[Line]:
    """The lines of a row; a ratio above 1 says how many times faster than the plain way.

    `seconds_of_products` are those that its operations would take at the measured peak GEMM throughput.
    """
    plain = next(iter(sides.values())).seconds
    return [
        Line(name, side, count / took.seconds, took.seconds, took.runs, plain / took.seconds, took.processor_seconds,
             took.peak_rss_bytes / 1e6, seconds_of_products and seconds_of_products / took.seconds, took.agreement)
        for side, took in sides.items()
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help=f"which ({', '.join(names())}); all unless named")
    parser.add_argument("--repeats", type=int, default=3, help="times that each side runs, in turn with the others")
    parser.add_argument("--small", action="store_true", help="few inputs: to see that it works, not how fast")
    parser.add_argument("--folder", type=Path, default=Path("results/benchmark"), help="for inputs and the table")
    options = parser.parse_args()
    if unknown := sorted(set(options.rows) - set(names())):
        sys.exit(f"error: unknown row {unknown[0]!r}; expected one of {', '.join(names())}")
    if options.repeats < 1:
        sys.exit("error: --repeats is less than 1")
    rate, copied = product_rate(), copy_rate()
    print(
        f"{machine()['device']}: products {rate / 1e9:,.0f} GFLOP/s, copies {copied / 1e9:,.1f} GB/s", file=sys.stderr
    )
    print("\t".join(HEAD))
    reported: list[Line] = []
    for name in options.rows or names():
        module, folder = row(name), options.folder / name
        if why := lacking(module):
            print(f"{name}: skipped, {why}", file=sys.stderr)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        try:
            count = module.prepare(folder, options.small)
            measured = compare(name, module, folder, options.repeats)
            needed = module.operations(folder) / rate if hasattr(module, "operations") else None
            reported += lines(name, count, measured, needed)
        except (RuntimeError, AssertionError, FileNotFoundError) as error:
            sys.exit(f"error: {name}: {error}")
        for line in reported[-len(measured) :]:
            print("\t".join(line.cells()), flush=True)
        facts = {
            "machine": machine(),
            "cores": os.cpu_count(),
            "products_per_second": rate,
            "copied_per_second": copied,
            "small": options.small,
        }
        facts["rows"] = [asdict(line) for line in reported]
        (options.folder / "benchmark.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
