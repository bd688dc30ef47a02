"""The sampling units of a comparison's tasks: queries, or clusters of them, and the design effect of clusters.

Queries of one corpus that share a relevant document, directly or indirectly, are one connected component, such as
tweets on one article. Their values are correlated, so the variance of a mean over them is larger than that of
independent queries, by the design effect (Kish 1965, Survey Sampling, chapters 5 and 8),

    sum over clusters u of E_u^2 / (1 - n_u / n)  over  sum over queries j of e_j^2 n / (n - 1),

e_j the influence of a query (observed_tasks.py), E_u its sum over the n_u queries of a cluster: the variance CR2 of
Bell and McCaffrey (2002), which is unbiased if queries are in fact independent. Its degrees of freedom are also theirs,

    n^2 / (sum n_u^2 + sum over u and v != u of b_u b_v),    b_u = n_u^2 / (n (1 - n_u / n)):

G - 1 for G clusters of equal size, fewer if some are large.

Kinds of units. `gold-document`: the connected components of queries and relevant documents, over all tasks of a corpus,
so that tasks with common documents have common clusters. `auto`, the default, is the same if a task's queries share
documents and no task of the corpus is a single component. A warning reports few of them: their interval is wide, but
that of independent queries contains the true effect in half of the experiments. `query`: each query. Clusters can also
be given by name. Two queries of tasks of one corpus are the same if they have the same id and, where relevant documents
are known, the same of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ranktrial.common.errors import UserError

ROUNDING = 1e-12  # of a ratio of squares


class Clustered(NamedTuple):
    """The ratio of a variance with clusters to that without, and its degrees of freedom."""

    design_effect: float
    df: float


def components(relevant: Mapping[Hashable, Iterable[str]]) -> dict[Hashable, int]:
    """Query -> the number of its connected component; `relevant` are the documents relevant to each."""
    parent = list(range(len(relevant)))  # by the position of a query: keys with many documents are slow to look up

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first_with: dict[str, int] = {}
    for place, documents in enumerate(relevant.values()):
        for document in documents:
            parent[root(place)] = root(first_with.setdefault(document, place))
    numbers: dict[int, int] = {}
    return {query: numbers.setdefault(root(place), len(numbers)) for place, query in enumerate(relevant)}


def effective_number(units: Sequence[Hashable]) -> float:
    """The effective number of clusters, of equal size: n^2 / sum of n_u^2, n_u the queries of each (Kish 1965)."""
    return float(len(units) ** 2 / sum(size**2 for size in Counter(units).values())) if units else 0.0


def sums(values: np.ndarray, units: Sequence[Hashable]) -> dict[Hashable, float]:
    """The sum of `values` over the queries of each unit, in the order of first occurrence."""
    totals: dict[Hashable, float] = {}
    for value, unit in zip(values.tolist(), units, strict=True):
        totals[unit] = totals.get(unit, 0.0) + value
    return totals


def numbered(units: Sequence[Hashable]) -> np.ndarray:
    """The units numbered 0, 1, ... in the order of first occurrence."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(unit, len(numbers)) for unit in units], dtype=int)


def clustered(influence: np.ndarray, units: np.ndarray) -> Clustered | None:
    """The effect of clusters, numbered from 0, on the variance of an effect; None for a single cluster."""
    n = len(influence)
    sizes = np.bincount(units)
    if len(sizes) == n:
        return Clustered(1.0, n - 1)
    if len(sizes) < 2:
        return None
    between = sizes**2 / (1 - sizes / n) / n
    df = n**2 / ((sizes**2).sum() + between.sum() ** 2 - (between**2).sum())
    return Clustered(float(design_effects(influence[None], units[None])[0]), float(df))


def design_effects(influence: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The design effect of each row of (rows, n), whose units are numbered from 0, equally many in each row.

    There must be at least two units; a row of zeros has 1, one whose totals are 0 but for rounding has 0.
    """
    rows, n = influence.shape
    count = int(units.max()) + 1
    labels = (units + count * np.arange(rows)[:, None]).ravel()
    totals = np.bincount(labels, influence.ravel(), minlength=rows * count).reshape(rows, count)
    sizes = np.bincount(labels, minlength=rows * count).reshape(rows, count)
    independent = (influence**2).sum(axis=1) * n / (n - 1)
    clustered = (totals**2 / (1 - sizes / n)).sum(axis=1)
    factors: np.ndarray = np.divide(clustered, independent, out=np.ones(rows), where=independent > 0)
    factors[factors < ROUNDING] = 0.0
    return factors


AUTO, GOLD_DOCUMENT, QUERY = "auto", "gold-document", "query"
FEW = 10  # components, by their effective number

Units = list[Hashable]


@dataclass(frozen=True)
class TaskQueries:
    """The queries of a task in the order of their values, its corpus, and the documents relevant to each query.

    `clusters` names the cluster of each query, if given by the user.
    """

    queries: Sequence[str]
    corpus: str
    relevant: Mapping[str, Collection[str]] | None = None
    clusters: Mapping[str, str] | None = None


def units_of_tasks(tasks: Mapping[str, TaskQueries], kind: str) -> tuple[dict[str, Units], list[str]]:
    """The unit of each query of each task, and cautions; `kind` is auto, gold-document or query.

    In tasks of one corpus, units with the same name are the same. Raises UserError for a query without a cluster.
    """
    units: dict[str, Units] = {}
    warnings: list[str] = []
    by_corpus: dict[str, dict[str, TaskQueries]] = {}
    for name, task in tasks.items():
        by_corpus.setdefault(task.corpus, {})[name] = task
    for group in by_corpus.values():
        of_default = {name: task for name, task in group.items() if task.clusters is None}
        documented = all(task.relevant is not None for task in of_default.values())
        found = _components(of_default) if kind != QUERY and documented else {}
        shared = {name: found[name] for name in found if len(set(found[name])) < len(found[name])}
        numbers = {name: effective_number(values) for name, values in shared.items()}
        single = [name for name, own in shared.items() if len(set(own)) == 1]
        if kind == AUTO:
            warnings += [
                _of_few(len(set(shared[name])), name, number) for name, number in numbers.items() if number < FEW
            ]
        applied = found if shared and (kind == GOLD_DOCUMENT or not single) else {}
        for name, own in _identities(of_default).items():
            units[name] = applied.get(name, own)
        units |= {name: _given(name, task) for name, task in group.items() if task.clusters is not None}
    return {name: units[name] for name in tasks}, warnings


def _components(group: Mapping[str, TaskQueries]) -> dict[str, Units]:
    """The component of each query of tasks with one corpus. Queries with the same id but other documents differ."""
    keys = {name: _with_documents(task) for name, task in group.items()}
    relevant: dict[Hashable, Collection[str]] = {key: key[1] for task_keys in keys.values() for key in task_keys}
    component = components(relevant)
    return {name: [f"component {component[key]}" for key in task_keys] for name, task_keys in keys.items()}


def _with_documents(task: TaskQueries) -> list[tuple[str, tuple[str, ...]]]:
    """The id of each query with its relevant documents."""
    relevant = task.relevant or {}
    return [(query, tuple(sorted(relevant.get(query, ())))) for query in task.queries]


def _identities(group: Mapping[str, TaskQueries]) -> dict[str, Units]:
    """A name of each query of tasks with one corpus: its id, unless this is that of different queries."""
    if any(task.relevant is None for task in group.values()):
        return {name: list(task.queries) for name, task in group.items()}
    keys = {name: _with_documents(task) for name, task in group.items()}
    meanings = Counter(query for query, _ in {key for of_task in keys.values() for key in of_task})
    return {name: [key if meanings[key[0]] > 1 else key[0] for key in of_task] for name, of_task in keys.items()}


def _given(name: str, task: TaskQueries) -> Units:
    clusters = task.clusters or {}
    if missing := [query for query in task.queries if query not in clusters]:
        raise UserError(f"clusters of task {name}: no cluster for query {missing[0]} ({len(missing)} lack one)")
    return [clusters[query] for query in task.queries]


def _of_few(count: int, name: str, number: float) -> str:
    """What a small number of components does to an interval, as text."""
    if count == 1:
        why = "which leaves no variance to allow for it: intervals take queries as independent and may be too narrow"
        return f"{name}: queries share relevant documents (one group), {why}"
    wide = f"fewer than {FEW}: its interval allows for them and is wide, perhaps too wide to be of use"
    unequal = "" if round(number, 1) == count else f" of unequal size, as informative as {number:.1f} of equal size"
    return f"{name}: queries share relevant documents ({count} groups{unequal}), {wide}"
