"""The sampling units of a comparison's tasks: queries, or clusters of queries.

`gold-document`: the connected components of queries and relevant documents, over all tasks of a corpus, so that tasks
with common documents have common clusters. `auto`, the default, is the same if a task's queries share documents and no
task of the corpus is a single component. A warning reports few of them: their interval is wide, but that of independent
queries contains the true effect in half of the experiments.
`query`: each query. Clusters can also be given by name. Two queries of tasks of one corpus are the same if they have
the same id and, where relevant documents are known, the same of these. Reads and writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

from ranktrial.common.errors import UserError
from ranktrial.statistics.dependence.units import components, effective_number

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
    return f"{name}: queries share relevant documents ({count} groups, effectively {number:.1f}), {wide}"
