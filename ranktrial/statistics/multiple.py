"""Simultaneous tests of all pairs of systems, or of all systems against one control: permutation and parametric tests,
letters and intervals of ranks.

Differences. A table holds a task's values, one row per query and one column per system. Over T tasks a difference is
the unweighted mean of the tasks' differences, whatever their numbers of queries:

    D = sum_t D_t / T,    Var(D) = sum_t Var(D_t) / T^2,    Var(D_t) = sd(x - y)^2 / n_t

The tasks are taken as given (a stratified sample of queries); how effects vary over collections is for a meta-analysis.

The max-T permutation test. Queries are permuted independently, many times, and each time the largest statistic of the
family is recorded: the adjusted p-value is the probability that this maximum is at least as large as a statistic.

    statistic t            |D| / se(D), the se of each pair's own differences, each time anew. A permutation turns the
                           signs of all differences of a query: each pair's own randomisation test, and how the pairs
                           vary together stays as it is, also where some systems differ (subset pivotality)
    statistic difference   |D|. A permutation hands a query's values to the systems in any order: the randomised Tukey
                           HSD of Carterette (2012), ACM TOIS 30(1), article 4

Westfall and Young (1993), Resampling-Based Multiple Testing, chapter 2; Phipson and Smyth (2010) for (b + 1) / (B + 1).

Tukey's HSD and Dunnett's test, in the two-way model query + system + error. With the residual mean square MSE of a
task, on (n - 1)(k - 1) degrees of freedom:

    Tukey     q = |D| / sqrt(MSE / n), the studentised range of k means
    Dunnett   t = |D| / sqrt(2 MSE / n), the largest |t| of k - 1 with correlation 1/2

Over T tasks the variance of a system's mean is V = sum_t MSE_t / n_t / T^2, and its degrees of freedom are those of
Welch and Satterthwaite, V^2 / sum_t (MSE_t / n_t / T^2)^2 / df_t. Both distributions are those of Hsu (1996), Multiple
Comparisons, chapters 3 and 5: a normal probability for known variance, averaged over the distribution of s / sigma.

Letters (compact letter display): systems that have a letter in common do not differ significantly. Piepho (2004), An
algorithm for a letter-based representation of all-pairwise comparisons, Journal of Computational and Graphical
Statistics 13(2), 456-466: insert and absorb. The letters are then all maximal groups in which no two systems differ
significantly, as in R's multcompView.

Simultaneous intervals of ranks, from the pairs that differ significantly: Al Mohamad, Goeman and van Zwet (2022),
Simultaneous confidence intervals for ranks with application to ranking institutions, Biometrics 78(1), 238-247; Mogstad
et al. (2024), Inference for ranks, Review of Economic Studies 91(1), 476-518.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import scipy

from ranktrial.statistics.significance import flipped_sums
from ranktrial.statistics.summaries import legendre

_ROUNDING = 1e-12  # a variance below this share of the mean square is only rounding


class Contrasts(NamedTuple):
    """The differences of a family, by the columns of both systems: `system` minus `other`."""

    system: np.ndarray
    other: np.ndarray


class Task(NamedTuple):
    """The data from which differences on a task and their variances are computed, centred per query.

    `means` has one row per permutation and one column per system; `products` are the sums of products of two systems'
    values, the same for all permutations that only flip signs. `queries` is the number of all queries of the task.
    """

    means: np.ndarray
    products: np.ndarray
    queries: int


def all_pairs(systems: int) -> Contrasts:
    """Each system minus each one before it."""
    pairs = list(itertools.combinations(range(systems), 2))
    return Contrasts(np.array([later for _, later in pairs]), np.array([earlier for earlier, _ in pairs]))


def against(control: int, systems: int) -> Contrasts:
    """Each other system minus the control."""
    treatments = np.array([system for system in range(systems) if system != control])
    return Contrasts(treatments, np.full(len(treatments), control))


def varying_rows(table: np.ndarray) -> np.ndarray:
    """The rows of a table, each centred. Rows with the same value for all systems are left out: they contribute 0."""
    rows = table - table.mean(axis=1, keepdims=True)
    return np.asarray(rows[np.ptp(table, axis=1) > 0])


def observed(table: np.ndarray) -> Task:
    """A task without permutation."""
    rows = varying_rows(table)
    return Task(rows.sum(axis=0, keepdims=True) / len(table), rows.T @ rows, len(table))


def differences(tasks: Sequence[Task], contrasts: Contrasts) -> np.ndarray:
    """D of each permutation and contrast."""
    system, other = contrasts
    return np.asarray(np.mean([task.means[:, system] - task.means[:, other] for task in tasks], axis=0))


def variances(tasks: Sequence[Task], contrasts: Contrasts) -> np.ndarray:
    """Var(D) of each permutation and contrast; 0 if a difference is the same on all queries, NaN for one query."""
    parts = [_variance_on_task(task, contrasts) for task in tasks]
    return np.asarray(np.sum(parts, axis=0) / len(tasks) ** 2)


def _variance_on_task(task: Task, contrasts: Contrasts) -> np.ndarray:
    if task.queries < 2:
        return np.full((len(task.means), len(contrasts.system)), np.nan)
    (i, j), squares = contrasts, np.diag(task.products)
    spread = (squares[i] + squares[j] - 2 * task.products[i, j]) / task.queries - differences([task], contrasts) ** 2
    return np.where(spread <= _ROUNDING * (squares[i] + squares[j]) / task.queries, 0, spread) / (task.queries - 1)


STATISTICS = ("t", "difference")
_BLOCK = 2**19  # values in memory at once, and as many again in copies
_EQUAL = 1e-10  # statistics that differ by less, relatively, differ by rounding


class Simultaneous(NamedTuple):
    """The tests of a family; a statistic must exceed `critical` for p < alpha (infinite: none can)."""

    p_values: np.ndarray
    critical: float
    permutations: int
    exact: bool


def max_t_test(
    tables: Sequence[np.ndarray], contrasts: Contrasts, statistic: str, alpha: float, permutations: int, seed: int
) -> Simultaneous:
    """Test the differences of a family over tasks, each given as a table (queries, systems).

    All permutations are enumerated if they are at most `permutations`: p is then the share of them with a maximum at
    least as large. Else `permutations` are sampled, and p = (b + 1) / (B + 1).
    """
    rows, tasks = [varying_rows(table) for table in tables], [observed(table) for table in tables]
    permute = signs_turned if statistic == "t" else values_reordered
    sums, exact = permute(rows, permutations, seed)
    maxima = np.concatenate([statistics(block, contrasts, statistic).max(axis=1) for block in _blocks(tasks, sums)])
    maxima.sort()
    found = statistics(tasks, contrasts, statistic)[0]
    exceeding = len(maxima) - np.searchsorted(maxima, found * (1 - _EQUAL), side="left")
    added = 0 if exact else 1  # the observed data, which an enumeration already includes
    possible = len(maxima) + added
    allowed = (
        math.ceil(alpha * possible * (1 - 1e-12)) - 1 - added
    )  # the largest number of exceeding maxima with p < alpha
    critical = float(maxima[len(maxima) - 1 - allowed]) if allowed >= 0 else math.inf
    return Simultaneous((exceeding + added) / possible, critical, len(maxima), exact)


def statistics(tasks: Sequence[Task], contrasts: Contrasts, statistic: str) -> np.ndarray:
    """The statistic of each permutation and contrast."""
    size: np.ndarray = np.abs(differences(tasks, contrasts))
    if statistic == "difference":
        return size
    se = np.sqrt(variances(tasks, contrasts))
    size[size <= _EQUAL * math.sqrt(max(np.diag(task.products).max() for task in tasks))] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = size / se
    t[size == 0] = 0  # also if the se is 0: equal systems
    return np.where(np.isnan(t), np.inf, t)  # one query has no se: no difference can be significant


def signs_turned(tables: Sequence[np.ndarray], permutations: int, seed: int) -> tuple[list[np.ndarray], bool]:
    """Each task's sums, shape (permutations, systems), with flipped signs of queries' values; whether these are all.

    Rows are centred, so that all differences of the query flip. With two systems, the flips are those of a comparison's
    randomisation test.
    """
    systems = tables[0].shape[1]
    columns = np.cumsum([0, *map(len, tables)])
    side_by_side = np.zeros((len(tables) * systems, columns[-1]))
    for place, rows in enumerate(tables):
        side_by_side[place * systems : (place + 1) * systems, columns[place] : columns[place + 1]] = rows.T
    flipped = flipped_sums(side_by_side, seed, permutations)
    return np.split(flipped.sums.T, len(tables), axis=1), flipped.exact


def values_reordered(tables: Sequence[np.ndarray], permutations: int, seed: int) -> tuple[list[np.ndarray], bool]:
    """Each task's sums, shape (permutations, systems), with a query's values in any order; whether these are all."""
    orders = math.factorial(tables[0].shape[1])
    queries, count = sum(map(len, tables)), 1
    while queries and count <= permutations:
        queries, count = queries - 1, count * orders
    if count <= permutations:
        return _all_orders(tables, count), True
    return [_random_orders(rows, permutations, [seed, place]) for place, rows in enumerate(tables)], False


def _all_orders(tables: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
    """The sums in all orders, given by the digits of a permutation's number in the base of a query's orders."""
    orders = np.array(list(itertools.permutations(range(tables[0].shape[1]))))
    sums, left = [], np.arange(count)
    for rows in tables:
        total = np.zeros((count, rows.shape[1]))
        for row in rows:
            left, digit = np.divmod(left, len(orders))
            total += row[orders[digit]]
        sums.append(total)
    return sums


def _random_orders(rows: np.ndarray, count: int, seed: list[int]) -> np.ndarray:
    """The sums in `count` random orders, by NumPy's PCG64; memory does not grow with their number."""
    generator, size = np.random.default_rng(seed), max(1, _BLOCK // max(1, rows.size))
    sums = []
    for start in range(0, count, size):
        whole = np.repeat(rows[np.newaxis], min(size, count - start), axis=0)
        sums.append(generator.permuted(whole, axis=2, out=whole).sum(axis=1))
    return np.concatenate(sums)


def _blocks(tasks: Sequence[Task], sums: Sequence[np.ndarray]) -> Iterator[list[Task]]:
    """The tasks' permutations in blocks: each has a statistic for every pair of systems."""
    size = max(1, _BLOCK // tasks[0].products.size)
    for start in range(0, len(sums[0]), size):
        parts = [total[start : start + size] for total in sums]
        yield [task._replace(means=part / task.queries) for task, part in zip(tasks, parts, strict=True)]


_NODES = 128
_FEW = 10  # degrees of freedom
_FAR = 9.0  # standard deviations beyond which the density underflows
_TAIL = 1e-16


def variance_of_mean(tables: Sequence[np.ndarray]) -> tuple[float, float]:
    """V and its degrees of freedom, of tables (queries, systems); both NaN if a task has one query."""
    parts, dfs = [], []
    for table in tables:
        n, systems = table.shape
        if n < 2:
            return math.nan, math.nan
        residual = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
        dfs.append((n - 1) * (systems - 1))
        parts.append((residual**2).sum() / dfs[-1] / n / len(tables) ** 2)
    total, squares = sum(parts), sum(part**2 / df for part, df in zip(parts, dfs, strict=True))
    return total, total**2 / squares if squares else math.nan


def tukey_p(difference: np.ndarray, variance: float, df: float, systems: int) -> np.ndarray:
    """P(studentised range of `systems` means >= q), for the differences of two means each of this variance."""

    def below(q: np.ndarray) -> np.ndarray:
        z, weights = _normal_nodes()
        inside = scipy.special.ndtr(z) - scipy.special.ndtr(z - q[..., np.newaxis])
        return np.asarray(systems * (inside ** (systems - 1) @ weights))

    return _upper(np.abs(difference) / math.sqrt(variance), df, below)


def dunnett_p(difference: np.ndarray, variance: float, df: float, systems: int) -> np.ndarray:
    """P(largest |t| of `systems` - 1 differences from one control >= t), two-sided."""

    def below(t: np.ndarray) -> np.ndarray:
        z, weights = _normal_nodes()
        reach = math.sqrt(2) * t[..., np.newaxis]
        inside = scipy.special.ndtr(z + reach) - scipy.special.ndtr(z - reach)
        return np.asarray(inside ** (systems - 1) @ weights)

    return _upper(np.abs(difference) / math.sqrt(2 * variance), df, below)


def _upper(statistic: np.ndarray, df: float, below: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The mean of 1 - below(statistic s) over s, the root of a chi-square over its degrees of freedom."""
    low, high = (math.log(chi2 / df) / 2 for chi2 in (2 * scipy.special.gammaincinv(df / 2, _TAIL), _chi2_above(df)))
    u, weights = _legendre(low, high, _NODES if df > _FEW else 4 * _NODES)  # few degrees of freedom: a long lower tail
    log_density = math.log(2) + df / 2 * (math.log(df / 2) + 2 * u - np.exp(2 * u)) - scipy.special.gammaln(df / 2)
    probability = [float(weights @ (np.exp(log_density) * (1 - below(one * np.exp(u))))) for one in statistic]
    return np.asarray(np.clip(probability, 0.0, 1.0))


def _chi2_above(df: float) -> float:
    return float(2 * scipy.special.gammainccinv(df / 2, _TAIL))


def _normal_nodes() -> tuple[np.ndarray, np.ndarray]:
    """Nodes, and weights that include the normal density."""
    z, weights = _legendre(-_FAR, _FAR)
    return z, weights * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)


def _legendre(low: float, high: float, nodes: int = _NODES) -> tuple[np.ndarray, np.ndarray]:
    places, weights = legendre(nodes)
    return (high + low) / 2 + (high - low) / 2 * places, (high - low) / 2 * weights


LETTERS = string.ascii_lowercase + string.ascii_uppercase


def groups(systems: int, significant: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The maximal groups of systems 0, 1, … without a significant difference, in the order of their members."""
    columns = [frozenset(range(systems))]
    for pair in significant:
        apart = frozenset(pair)
        split = [column - {system} for column in columns if apart <= column for system in apart]
        kept = [column for column in columns if not apart <= column]
        columns = list(dict.fromkeys(kept + split))
        columns = [column for column in columns if not any(column < other for other in columns)]  # absorbed
    return sorted(tuple(sorted(column)) for column in columns)


def letter(number: int) -> str:
    """a to z, A to Z, then the same after a dot for each round."""
    rounds, place = divmod(number, len(LETTERS))
    return "." * rounds + LETTERS[place]


def letters(systems: int, significant: Iterable[tuple[int, int]]) -> list[str]:
    """The letters of each system; the first system has an a."""
    named = [(letter(number), members) for number, members in enumerate(groups(systems, significant))]
    return ["".join(name for name, members in named if system in members) for system in range(systems)]


def rank_intervals(systems: int, better: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The best and the worst rank, from 1, of systems 0, 1, ….

    `better` are all pairs (better system, worse system) that differ significantly. A system ranks below all that are
    significantly better and above all that are significantly worse. The rank intervals have the simultaneous coverage
    of the intervals of pairs.
    """
    lowest, highest = [1] * systems, [systems] * systems
    for winner, loser in better:
        lowest[loser] += 1
        highest[winner] -= 1
    return list(zip(lowest, highest, strict=True))


OVER_TASKS = "over tasks"  # no task's name has a space
FEW_QUERIES = 10
UNLIKE = 2.0  # ratio of standard errors above which a common critical difference is inappropriate


@dataclass(frozen=True, kw_only=True)
class Family:
    """The systems of a family, by the columns of their values, and the settings of the tests."""

    systems: Annotated[list[str], "their names"]
    against: Annotated[str | None, "the control; none: all pairs"] = None
    statistic: Annotated[str, "t: difference / standard error; difference: the difference itself"] = "t"
    alpha: Annotated[float, "of the whole family; 1 - alpha is the level of the simultaneous intervals"] = 0.05
    permutations: Annotated[int, "of the permutation test, at most"] = 10_000
    seed: Annotated[int, "of the permutation test"] = 42
    lower_is_better: Annotated[bool, "of the measure: the lowest mean comes first"] = False


class Scope(NamedTuple):
    """The results for one task or over all tasks; systems by their columns."""

    task: str
    queries: int
    means: np.ndarray
    difference: np.ndarray
    se: np.ndarray
    test: Simultaneous
    half_widths: np.ndarray
    parametric_p: np.ndarray
    letters: list[str] | None


def contrasts_of(family: Family) -> Contrasts:
    """The differences that are tested together."""
    if family.against is None:
        return all_pairs(len(family.systems))
    return against(family.systems.index(family.against), len(family.systems))


def scopes(tables: dict[str, np.ndarray], family: Family) -> list[Scope]:
    """Each task and, if there are several, all of them together."""
    found = [scope(task, {task: table}, family) for task, table in tables.items()]
    return [*found, scope(OVER_TASKS, tables, family)] if len(tables) > 1 else found


def scope(name: str, tables: dict[str, np.ndarray], family: Family) -> Scope:
    """Test a family on these tasks; a table has one row per query and one column per system."""
    contrasts, values = contrasts_of(family), list(tables.values())
    test = max_t_test(values, contrasts, family.statistic, family.alpha, family.permutations, family.seed)
    tasks = [observed(table) for table in values]
    difference = differences(tasks, contrasts)[0]
    se = np.sqrt(variances(tasks, contrasts)[0])
    with np.errstate(invalid="ignore"):  # infinite: no statistic can be significant
        half = test.critical * se if family.statistic == "t" else np.full(len(se), test.critical)
    return Scope(
        task=name,
        queries=sum(map(len, values)),
        means=np.mean([table.mean(axis=0) for table in values], axis=0),
        difference=difference,
        se=se,
        test=test,
        half_widths=half,
        parametric_p=parametric(values, difference, family),
        letters=None if family.against else by_mean(values, contrasts, test, family),
    )


def parametric(tables: Sequence[np.ndarray], difference: np.ndarray, family: Family) -> np.ndarray:
    """Tukey's or Dunnett's p of the two-way model; NaN if the model leaves no error."""
    variance, df = variance_of_mean(tables)
    if not variance > 0:
        return np.full(len(difference), math.nan)
    test = tukey_p if family.against is None else dunnett_p
    return test(difference, variance, df, len(family.systems))


def by_mean(tables: Sequence[np.ndarray], contrasts: Contrasts, test: Simultaneous, family: Family) -> list[str]:
    """The letters of each system; the system with the best mean has an a."""
    means = np.mean([table.mean(axis=0) for table in tables], axis=0)
    order = np.argsort(means if family.lower_is_better else -means, kind="stable")
    place = np.argsort(order)
    significant = [
        (place[system], place[other])
        for system, other, p in zip(*contrasts, test.p_values, strict=True)
        if p < family.alpha
    ]
    in_order = letters(len(order), significant)
    return [in_order[position] for position in place]


def family_warnings(found: Sequence[Scope], family: Family, nouns: tuple[str, str] = ("query", "queries")) -> list[str]:
    """Warnings about a test with little power, or a statistic that does not suit all pairs, as text; `nouns` say what
    systems have values of.
    """
    said = []
    for one in found:
        se = one.se[one.se > 0]
        if one.task != OVER_TASKS and one.queries < FEW_QUERIES:
            few = f"{one.queries} {nouns[one.queries != 1]}"
            said.append(f"{one.task}: {few}; below {FEW_QUERIES} hardly any difference is significant")
        if not math.isfinite(one.test.critical):
            said.append(f"{one.task}: no difference, however large, can be significant: too few {nouns[1]}")
        elif family.statistic == "difference" and len(se) and se.max() > UNLIKE * se.min():
            problem = f"the standard errors of the differences differ by a factor of {se.max() / se.min():.1f}"
            said.append(
                f"{one.task}: {problem}, so one critical difference does not fit all; statistic: t allows for that"
            )
    return said
