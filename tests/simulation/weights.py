"""The coverage and width of means over collections by ways to weigh tasks, for the choice of the default.

Reads nothing. Writes a table in Markdown (docs/simulations.md describes candidates, worlds and the rule). Experiments are
simulated thousands at once, with tasks' effects and variances of shape (experiments, tasks); the formulas are those of
statistics/, repeated for arrays, and a test compares both. Run it by hand; it takes some 20 minutes:

    python -m tests.simulation.weights --replicates 4000 --table weights.md
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranktrial.common.files import write_text
from tests.simulation.weighing import CANDIDATES, Interval, Tasks, ends, of_tasks, shrunk_rows

MEAN, SD = 0.04, 0.25
TAUS = (0.0, 0.5, 1.0, 3.0)  # in standard errors of a task of typical size
LEVELS = np.array([1 / 6, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 4 / 5, 9 / 10])  # gains and losses other than 0
OF_WIDTH = 400  # experiments whose width is computed
FARTHEST = 0.3  # true effects from MEAN, so that shares of queries stay within 0 and 1
BEIR = (50, 323, 500, 3452, 7405, 648, 97, 57, 249, 1406, 49, 13145, 10000, 400, 1000, 6666, 1535, 300)
MTEB = (1406, 1595, 1072, 1000, 1000, 648, 1000, 1000, 50, 49)

SIZES: dict[str, tuple[int, ...]] = {
    "GLUE (7)": (9815, 408, 5463, 40430, 277, 872, 71),
    "BEIR (18)": BEIR,
    "MTEB (10)": MTEB,
    "TREC (3 of 50)": (50,) * 3,
    "TREC (5 of 50)": (50,) * 5,
    "TREC (30 of 50)": (50,) * 30,
    "TREC (249, 54, 43)": (249, 54, 43),
    "example (5)": (94, 120, 60, 150, 80),
    **{f"{k} of 30 to 1,000": tuple(np.geomspace(30, 1000, k).astype(int).tolist()) for k in (2, 3, 5, 7, 10, 20, 30)},
    "4 of 10 to 10,000": (10, 100, 1000, 10000),
    "7 of 10 to 10,000": (10, 30, 100, 300, 1000, 3000, 10000),
    "30 x 4, 10,000": (30, 30, 30, 30, 10000),
    "20 x 2, 5,000 x 3": (20, 20, 5000, 5000, 5000),
    "2, 300 x 4": (2, 300, 300, 300, 300),
    "50, 5,000": (50, 5000),
    "300, 323": (300, 323),
}
FEWEST_OF_ZEROS = 30  # queries of a task whose differences are mostly 0


class World(NamedTuple):
    """Sizes of tasks, the kind of their differences, and tau in typical standard errors."""

    sizes: str
    kind: str
    tau: float

    @property
    def queries(self) -> np.ndarray:
        """The number of queries of each task."""
        return np.array(SIZES[self.sizes])


def worlds() -> Iterator[World]:
    """All worlds."""
    for name, sizes in SIZES.items():
        for kind in ("normal", "mostly 0", "skewed") if min(sizes) >= FEWEST_OF_ZEROS else ("normal",):
            yield from (World(name, kind, tau) for tau in TAUS)


def drawn(world: World, replicates: int, generator: np.random.Generator) -> Tasks:
    """Effects and variances, as the summary weighs them, of this many experiments; those with a task without variance
    are left out."""
    n = world.queries
    tau = world.tau * SD / np.exp(np.log(n).mean() / 2)
    away = tau * generator.standard_normal((replicates, len(n)))
    true = MEAN + np.clip(away, -FARTHEST, FARTHEST)
    if world.kind == "normal":
        y = true + SD * generator.standard_normal(true.shape) / np.sqrt(n)
        variances = SD**2 * generator.chisquare(n - 1.0, true.shape) / (n - 1) / n
    else:
        values, shares = _discrete(world.kind, true)
        counts = generator.multinomial(n, shares)
        y = counts @ values / n
        variances = (counts @ values**2 / n - y**2) / (n - 1)
    defined = (variances > 1e-12).all(axis=1)
    return Tasks(y[defined], shrunk_rows(variances[defined], n), n)


def _discrete(kind: str, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values that a query's difference may have, and their shares with these expectations.

    Of a tenth of the queries the treatment gains; on another tenth, it loses as much, or a quarter of it (skewed). A
    larger effect has more gains, a smaller one more losses.
    """
    part = 1.0 if kind == "mostly 0" else 0.25
    base = 0.1 * LEVELS.mean() * (1 - part)
    extra = (true - base) / LEVELS.mean()
    gains, losses = 0.1 + np.maximum(extra, 0), np.maximum(-extra, 0)
    each = np.ones(len(LEVELS)) / len(LEVELS)
    shares = [gains[..., None] * each, losses[..., None] * each, np.full((*true.shape, 1), 0.1) * each]
    zero = 1 - sum(share.sum(axis=-1) for share in shares)
    values = np.concatenate([LEVELS, -LEVELS, -part * LEVELS, [0.0]])
    return values, np.concatenate([*shares, zero[..., None]], axis=-1)


class Outcome(NamedTuple):
    """Coverage, mean width, and share of intervals that exclude 0, of each candidate."""

    coverage: dict[str, float]
    width: dict[str, float]


def outcome(world: World, replicates: int, generator: np.random.Generator) -> Outcome:
    """What the candidates do in one world."""
    coverage: dict[str, list[np.ndarray]] = {name: [] for name in CANDIDATES}
    width: dict[str, float] = {}
    for start in range(0, replicates, OF_WIDTH):
        tasks = drawn(world, min(OF_WIDTH, replicates - start), generator)
        known = of_tasks(tasks)
        for name, candidate in CANDIDATES.items():
            interval: Interval = candidate(known)
            share = interval.below(np.full(len(tasks.y), MEAN))
            coverage[name].append((share > 0.025) & (share < 0.975))
            if not start:
                low, high = ends(interval)
                width[name] = float((high - low).mean())
    return Outcome({name: float(np.concatenate(found).mean()) for name, found in coverage.items()}, width)


def table(found: dict[World, Outcome]) -> str:
    """Rows of worlds, columns of candidates: coverage, and width relative to equal weights."""
    heading = ["world", *(f"{name}" for name in CANDIDATES)]
    rows = [f"| {' | '.join(heading)} |", f"|---{'|--:' * len(CANDIDATES)}|"]
    for world, one in found.items():
        cells = [f"{one.coverage[name]:.3f} ({one.width[name] / one.width['equal']:.2f})" for name in CANDIDATES]
        rows.append(f"| {world.sizes}, {world.kind}, tau {world.tau:g} se | {' | '.join(cells)} |")
    lowest = {name: min(one.coverage[name] for one in found.values()) for name in CANDIDATES}
    relative = {
        name: float(np.exp(np.mean([np.log(one.width[name] / one.width["equal"]) for one in found.values()])))
        for name in CANDIDATES
    }
    rows.append(
        f"| lowest coverage (mean width) | {' | '.join(f'{lowest[n]:.3f} ({relative[n]:.2f})' for n in lowest)} |"
    )
    return "\n".join(rows) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate all worlds and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=4000)
    parser.add_argument("--table", type=Path, required=True)
    given = parser.parse_args(arguments)
    found = {}
    for number, world in enumerate(worlds()):
        found[world] = outcome(world, given.replicates, np.random.default_rng([1, number]))
        print(world, {name: round(value, 3) for name, value in found[world].coverage.items()}, flush=True)
        write_text(given.table, table(found))


if __name__ == "__main__":
    main()
