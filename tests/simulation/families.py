"""Error rate and coverage of the tests of many systems, by simulation: docs/simulations/families.tsv.

    python -m tests.simulation.families [REPETITIONS]

Reads nothing; prints the table. 40 queries, 6 systems, 399 permutations, alpha .05. A false difference is a pair of
equally good systems that differs significantly; an interval covers if all of the family's intervals hold their true
difference.
"""

import sys

import numpy as np

from ranktrial.statistics.multiple import STATISTICS, all_pairs, differences, max_t_test, observed, variances

QUERIES, SYSTEMS, ALPHA = 40, 6, 0.05
# What is drawn -> the sd of each system's noise and its true level.
SITUATIONS = {
    "equally good, equal variances (sd .15)": ([0.15] * 6, [0.0] * 6),
    "equally good, five of sd .03, one of sd .3": ([0.03] * 5 + [0.3], [0.0] * 6),
    "five equally good (sd .1), one worse by .4": ([0.1] * 6, [0.0] * 5 + [-0.4]),
    "three levels, .1 apart (sd .1)": ([0.1] * 6, [0.0, 0.0, 0.1, 0.1, 0.2, 0.2]),
}


def drawn(generator: np.random.Generator, sds: list[float], levels: list[float]) -> np.ndarray:
    """A table of queries by systems: a query's difficulty, a system's level, and noise."""
    difficulty = generator.normal(0.4, 0.2, (QUERIES, 1))
    return difficulty + np.array(levels) + generator.normal(0, 1, (QUERIES, SYSTEMS)) * np.array(sds)


def rates(
    sds: list[float], levels: list[float], statistic: str, repetitions: int, permutations: int = 399
) -> tuple[float, float, float]:
    """The share of repetitions with a false difference, that in which all intervals cover, and a median half-width."""
    generator, contrasts = np.random.default_rng(5), all_pairs(SYSTEMS)
    truth = np.array(levels)[contrasts.system] - np.array(levels)[contrasts.other]
    false, covered, widths = 0, 0, []
    for repetition in range(repetitions):
        table = drawn(generator, sds, levels)
        test = max_t_test([table], contrasts, statistic, ALPHA, permutations, repetition)
        tasks = [observed(table)]
        half = test.critical * (np.sqrt(variances(tasks, contrasts)[0]) if statistic == "t" else np.ones(len(truth)))
        false += bool((test.p_values[truth == 0] < ALPHA).any())
        covered += bool((np.abs(differences(tasks, contrasts)[0] - truth) <= half).all())
        widths.append(np.median(half))
    return false / repetitions, covered / repetitions, float(np.mean(widths))


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("systems", "statistic", "false difference", "all intervals cover", "median half-width", sep="\t")
    for name, (sds, levels) in SITUATIONS.items():
        for statistic in STATISTICS:
            false, covered, width = rates(sds, levels, statistic, repetitions)
            print(name, statistic, f"{false:.3f}", f"{covered:.3f}", f"{width:.3f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
