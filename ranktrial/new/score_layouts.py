"""Folders with scores of other tools: Ranger's, MTEB's results, long tables, files of scores, leaderboards.

A layout has a description, and a function that returns the draft of a configuration, or None for a folder of another
layout, and raises UserError for a folder of its layout that it cannot read.

Files of scores: a file per task with a column per system, or per system with a column per task or measure, or a file
per system and task; or leaderboards, whose rows are tasks. The names of columns decide what these are where they are
known. Otherwise a file is a task and a column a system, and the draft says so. The measure is a heading or word that
all files share. Long tables have columns that name system, task, query, measure and value, as evaluation tools write
them. MTEB's results are a folder per model, with a JSON file per task; they become a leaderboard.

A comparison of the toolkit Ranger: its config.yaml names a file of runs or values per system and task. It has
`eval_metrics`, or `qrels` and `available_rankings`, and `display_names` of the tasks to compare. Its paths are relative
to the folder in which the toolkit is run. Here, leading folders are removed until a file of the folder has that name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from ranktrial.common.errors import UserError
from ranktrial.common.strict_yaml import read_yaml
from ranktrial.common.wording import hint
from ranktrial.datasets.formats import leaderboard as leaderboard_format
from ranktrial.datasets.formats import scores as scores_format
from ranktrial.ir.measure_names import canonical
from ranktrial.ir.outside_table import MOST_NAMES, SCORES, TASK, Wanted, rows_of_results
from ranktrial.ir.scores import Named, named_in, read_values, seeds_in
from ranktrial.new.draft import MEASURES, Draft, Entries, counted
from ranktrial.new.folder import Name, stem, task_of_samples
from ranktrial.new.kinds_of_files import Contents, value_names

NO_MEASURE = "score"
# Measures of classification, question answering, translation and correlation, all higher for better systems. Retrieval
# measures are recognised by ir-measures.
_KNOWN = ("accuracy", "acc", "f1", "mcc", "matthews", "precision", "recall", "em", "bleu", "chrf", "rouge", "meteor",
          "pearson", "spearman", "kendall", "auc", "acc_norm", "exact_match", "mrr", "map")  # fmt: skip


def measure_in(files: Iterable[str], headings: Mapping[str, Sequence[str]]) -> str:
    """Return the known measure that is in each file the heading of its only column, or in its name; empty if none."""
    of_headings = [set(names) if len(names) == 1 else set() for names in headings.values()]
    of_names = [set(re.split(r"[^A-Za-z0-9@]+", stem(file))) for file in files]
    for words in (of_headings, of_names):
        if common := sorted(filter(is_known_measure, set.intersection(*words))):
            name: str = common[-1]
            return name
    return ""


def is_known_measure(word: str) -> bool:
    """Whether a word is a measure of retrieval, by its name in ir-measures or trec_eval, or another common one."""
    if word.lower() in _KNOWN:
        return True
    return not word.isdigit() and canonical(word) is not None


Columns = Literal["systems", "tasks", "measures"]
CHOICES: tuple[Columns, ...] = ("systems", "tasks", "measures")
# Well-known tasks of classification, language models and retrieval, without signs.
_TASKS = {
    "sst2", "cola", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte", "wnli", "boolq", "copa", "wic", "wsc",
    "cb", "multirc", "record", "gsm8k", "mmlu", "hellaswag", "winogrande", "piqa", "arceasy",
    "arcchallenge", "truthfulqa", "squad", "msmarco", "nfcorpus", "scifact", "fiqa", "treccovid",
    "arguana", "quora", "scidocs", "hotpotqa", "nq", "dbpedia", "fever", "climatefever", "touche2020",
    "cqadupstack", "robust04", "bioasq"
}  # fmt: skip
_SYSTEMS = re.compile(
    r"bm25|bert|baseline|control|gold|splade|colbert|dense|tuned|gpt|llama|minilm|(^|[^a-z])(e5|bge|t5|rrf)",
    re.IGNORECASE,
)
_FACTS = re.compile(
    r"fold|cluster|group|difficulty|year|(num_|n_)?(words|tokens)|(query_|doc_)?len(gth)?", re.IGNORECASE
)


def columns_are(headings: Mapping[str, Sequence[str]], given: str = "") -> Columns:
    """Return what the columns of values are; `given` is the user's word for it. Raises UserError for another word."""
    if given:
        chosen = next((choice for choice in CHOICES if choice == given), None)
        if chosen is None:
            raise UserError(f"COLUMNS={given}: expected one of {', '.join(CHOICES)}")
        return chosen
    names = list(dict.fromkeys(name for of_file in headings.values() for name in of_file))
    if all(map(is_known_measure, names)):
        return "measures"
    files = [stem(file) for file in headings]
    by_columns = [_is_task(name) for name in names], [_is_system(name) for name in names]
    by_files = [_is_task(name) for name in files], [_is_system(name) for name in files]
    if all(by_columns[0]) or (any(by_files[1]) and not any(by_columns[1]) and not any(by_files[0])):
        return "tasks"
    return "systems"


def axes_text(columns: Columns, names: Sequence[str], files: int, measure: str) -> str:
    """Return how the tables are read and what to give if that is wrong; empty if there is no doubt."""
    listed = f"{', '.join(names[:MOST_NAMES])}{', …' if len(names) > MOST_NAMES else ''}"
    if columns == "measures":
        compared = f"{measure} is compared" if measure else "one is compared; MEASURE=NAME chooses another"
        return f"The columns ({listed}) are read as measures, of which {compared}."
    of_files, other = ("a task", "tasks") if columns == "systems" else ("a system", "systems")
    read = f"Each column ({listed}) is read as a {columns[:-1]}"
    if files > 1 or columns == "tasks":
        return f"{read}, each file as {of_files}; if it is the other way round: COLUMNS={other}."
    return f"{read}." if len(names) > 2 else ""


def _is_task(name: str) -> bool:
    return re.sub(r"[^a-z0-9]", "", name.lower()) in _TASKS


def _is_system(name: str) -> bool:
    return _SYSTEMS.search(name) is not None


SCORE_FILES = "scores (a CSV or TSV per task with a column per system, or SYSTEM/TASK.txt or SYSTEM.TASK.txt)"
SEPARATORS = (".", "_", "-")  # between the names of system and task
Places = dict[str, tuple[str, str]]  # file -> system and task
NAMELESS = "Write what the values are in place of `score`."
OTHERWISE = (
    "Where a lower value is better: lower_is_better, with its name. Where tasks have different measures: effect: SMD "
    "and measure_on (docs/datasets.md)."
)


def draft_of_scores(contents: Contents) -> Draft | None:
    """Return a draft in which each task is a dataset without files of its own, and each system has its scores."""
    files = contents.of("scores")
    if not files:
        return None
    headings, facts = _without_facts(contents, {file: value_names(contents.heads[file]) for file in files})
    several = any(len(names) > 1 for names in headings.values())
    names = list(dict.fromkeys(name for of_file in headings.values() for name in of_file))
    starts = [start for file in files if (start := contents.heads[file].table)]
    if starts and len(starts) == len(files) and all(start.roles.of_tasks for start in starts):
        read = axes_text("systems", names, 1, contents.measure)
        found = draft_of_systems(contents, _of_columns(contents, headings), files, leaderboard=True, said=(read,))
        return replace(found, left=facts)
    listed = any(start.metrics for start in starts)
    columns: Columns = "measures" if listed else columns_are(headings, contents.columns) if several else "systems"
    said = (axes_text(columns, names, len(files), contents.measure),) if several else ()
    if columns == "measures":
        common = _common(contents, headings)
        found = draft_of_systems(contents, _of_files(contents, files), files, common[0], said=said)
        return replace(found, choices=() if contents.measure else tuple(common), left=facts)
    if columns == "tasks":
        systems = _of_tasks(contents, headings)
    else:
        systems = _of_columns(contents, headings) if several else _of_files(contents, files)
    return replace(draft_of_systems(contents, systems, files, said=said), left=facts)


def _without_facts(contents: Contents, headings: dict[str, list[str]]) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Return the columns of values without facts of queries beside two others or more, and which these are, as text."""
    names = list(dict.fromkeys(name for of_file in headings.values() for name in of_file))
    facts = [name for name in names if _FACTS.fullmatch(name) and name != contents.measure]
    if not facts or contents.columns or len(names) < len(facts) + 2:
        return headings, ()
    said = f"left out: the columns {', '.join(facts)}: no scores, by their names; COLUMNS=systems reads all"
    return {file: [name for name in of_file if name not in facts] for file, of_file in headings.items()}, (said,)


def _common(contents: Contents, headings: dict[str, list[str]]) -> list[str]:
    """Return the measure that is given, or those that all files have. Raises UserError if a file lacks it."""
    wanted = contents.measure
    for file, names in headings.items():
        if wanted and names and _computed(wanted) not in map(_computed, names):
            there = f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}"
            raise UserError(f"{contents.folder.path(file)}: no measure {wanted!r}{hint(wanted, names)}; {there}")
    common = [name for name in next(iter(headings.values())) if all(name in names for names in headings.values())]
    if not (wanted or common):
        raise UserError(f"{contents.folder.place}: no measure is in all files; give some of them a folder of their own")
    return [wanted] if wanted else common


def _computed(name: str) -> str:
    return canonical(name) or name.casefold()


def draft_of_systems(
    contents: Contents,
    systems: Entries,
    files: list[str],
    measure: str = "",
    leaderboard: bool = False,
    said: tuple[str, ...] = (),
) -> Draft:
    """Return the draft of systems with scores in these files. Raises UserError for a damaged file."""
    headings = {file: value_names(contents.heads[file]) for file in files if file in contents.heads}
    found = contents.measure or measure or measure_in(files, headings)
    for entry in systems.values():
        for task, place in entry["scores"].items():
            wanted = Wanted(entry.get("column"), task, found or None)
            seed = next(iter(seeds_in(Path(place), wanted)), None)
            read_values(Path(place), replace(wanted, seed=seed))
    tasks = list(dict.fromkeys(task for entry in systems.values() for task in entry["scores"]))
    measure = found or NO_MEASURE
    form = leaderboard_format.NAME if leaderboard else scores_format.NAME
    datasets: Entries = {task: {"format": form, "measure": measure} for task in tasks}
    where = f"{counted(len(tasks), 'leaderboard' if leaderboard else 'task')}"
    what = f"scores ({measure}) of {counted(len(systems), 'system')} on {where}"
    hints = (OTHERWISE,) if found else (NAMELESS, OTHERWISE)
    read = tuple(filter(None, said))
    return Draft(what, datasets, systems, tasks, used=frozenset(files), hints=hints, measure=measure, on_axes=read)


def _of_tasks(contents: Contents, headings: dict[str, list[str]]) -> Entries:
    """Return a system for each file; each column of values is a task, by its name."""
    systems: Entries = {}
    for file, columns in headings.items():
        scores = {contents.named(column) or "task": contents.folder.location(file) for column in columns}
        system = contents.named(stem(file)) or "system"
        if system in systems or len(scores) < len(columns):
            problem = "two files or columns would have one name but for signs"
            raise UserError(f"{contents.folder.path(file)}: {problem}; rename one")
        systems[system] = {"type": "external", "scores": scores}
    return systems


def _of_columns(contents: Contents, headings: dict[str, list[str]]) -> Entries:
    """Return a system for each column of values; each file is a task."""
    systems: Entries = {}
    column_of: dict[str, str] = {}
    for file, columns in headings.items():
        if not columns:
            raise UserError(
                f"{contents.folder.path(file)}:1: no heading, and other files have a column for each system"
            )
        for column in columns:
            name = contents.named(column) or "system"
            if column_of.setdefault(name, column) != column:
                raise UserError(f"{contents.folder.path(file)}:1: two columns would be called {name}; rename one")
            entry = systems.setdefault(name, {"type": "external", "column": column, "scores": {}})
            task = contents.named(stem(file)) or "task"
            if entry["scores"].setdefault(task, contents.folder.location(file)) != contents.folder.location(file):
                raise UserError(f"{contents.folder.place}: two files would be the task {task}; rename one")
    return systems


def _of_files(contents: Contents, files: list[str]) -> Entries:
    """Return the systems, with system and task of each file taken from the names of folders and files."""
    systems: Entries = {}
    for file, (system, task) in places_of(contents, files).items():
        scores = systems.setdefault(system, {"type": "external", "scores": {}})["scores"]
        if task in scores:
            problem = f"{scores[task]} and {file} would both be {system} on {task}"
            raise UserError(f"{contents.folder.place}: {problem}; rename one")
        scores[task] = contents.folder.location(file)
    return systems


def places_of(contents: Contents, files: list[str]) -> Places:
    """Return file -> system and task, from the names of folders and files."""
    samples = _of_samples(contents, files)
    others = [file for file in files if file not in samples]
    named = contents.named
    one_task = {file: (named(stem(file)) or "system", named(contents.folder.name) or "task") for file in others}
    return samples | (_by_folders(others, named) or _by_stems(others, named) or one_task)


def _of_samples(contents: Contents, files: list[str]) -> Places:
    """Recognise MODEL/samples_TASK_DATE.jsonl of lm-evaluation-harness, whose names do not depend on other files."""
    name, own = contents.named, contents.folder.name
    return {
        file: (name(PurePosixPath(file).parent.name or own) or "system", name(task) or "task")
        for file in files
        if (task := task_of_samples(file))
    }


def _by_folders(files: list[str], named: Name) -> Places:
    """Recognise SYSTEM/TASK.txt: several folders with files of the same names; else empty."""
    below = {file: str(PurePosixPath(*PurePosixPath(file).parts[1:])) for file in files if "/" in file}
    if not len(below) == len(files) > len(set(below.values())):
        return {}
    task_of = _task_names(set(below.values()), named)
    return {file: (named(PurePosixPath(file).parts[0]) or "system", task_of[below[file]]) for file in files}


def _by_stems(files: list[str], named: Name) -> Places:
    """Recognise SYSTEM.TASK.txt: the names are all pairs of several systems and several tasks; else empty."""
    for separator in SEPARATORS:
        pairs = {file: tuple(map(named, stem(file).partition(separator)[::2])) for file in files}
        systems, tasks = ({pair[place] for pair in pairs.values()} for place in (0, 1))
        whole = len(set(pairs.values())) == len(files) == len(systems) * len(tasks)
        if whole and "" not in systems | tasks and min(len(systems), len(tasks)) > 1:
            return {file: (system, task) for file, (system, task) in pairs.items()}
    return {}


def _task_names(files: Collection[str], named: Name) -> dict[str, str]:
    """Return file below a system's folder -> its task: the shortest of file, folder and path that is unique."""
    namings: list[Callable[[str], str]] = [stem, _folder_of, _whole]
    tried = [{file: named(naming(file)) or "task" for file in files} for naming in namings]
    different = [names for names in tried if len(set(names.values())) == len(names)]
    return min(different or tried[-1:], key=lambda names: sum(map(len, names.values())))


def _folder_of(file: str) -> str:
    return PurePosixPath(file).parent.name


def _whole(file: str) -> str:
    return str(PurePosixPath(file).with_suffix(""))


SAID = "Read as a long table: a value per row."
LONG_TABLES = "long tables (a value per row, with columns that name system, task, query, measure)"


def draft_of_long_tables(contents: Contents) -> Draft | None:
    """Return a draft with the systems, tasks and measure that the tables name, or else the names of their files."""
    starts = {file: contents.heads[file].table for file in contents.of("scores")}
    files = [file for file, start in starts.items() if start and start.is_long]
    if not files:
        return None
    named = {file: named_in(contents.folder.path(file)) for file in files}
    choices = [] if contents.measure else _measures(contents, named)
    measure = contents.measure or next(iter(choices), "")
    systems: Entries = {}
    places = places_of(contents, [file for file in files if not (named[file].systems or named[file].tasks)])
    for file in files:
        alone = contents.named(stem(file)) or contents.named(contents.folder.name) or "mine"
        of_system, of_task = places.get(file, (alone, alone))
        for column in named[file].systems or [""]:
            system = contents.named(column) or "system" if column else of_system
            entry = systems.setdefault(
                system, {"type": "external", **({"column": column} if column else {}), "scores": {}}
            )
            if entry.get("column", "") != column:
                problem = f"{entry['column']} and {column} would both be called {system}"
                raise UserError(f"{contents.folder.path(file)}: {problem}; rename one")
            for task in named[file].tasks or [of_task]:
                _add(entry["scores"], contents.named(task) or "task", contents.folder.location(file), system)
    of_tasks = [start.roles.of_tasks for file in files if (start := starts[file])]
    several = f"Of its measures ({', '.join(choices)}), the first is compared; MEASURE=NAME chooses another."
    said = (SAID, several) if len(choices) > 1 else (SAID,)
    found = draft_of_systems(contents, systems, files, measure, all(of_tasks), said)
    return replace(found, choices=tuple(choices))


def _add(scores: dict[str, str], task: str, place: str, system: str) -> None:
    if scores.setdefault(task, place) != place:
        names = f"{PurePosixPath(scores[task]).name} and {PurePosixPath(place).name}"
        raise UserError(f"{place}: {names} both have values of {system} on {task}; keep one")


def _measures(contents: Contents, named: dict[str, Named]) -> list[str]:
    """Return the measures that all tables have, the default one first; those of ir-measures if there are any."""
    listed: list[Sequence[str]] = [found.measures for found in named.values()]
    if not any(listed):
        listed = [start.measures for file in named if (start := contents.heads[file].table)]
    common = [name for name in listed[0] if all(name in others for others in listed)]
    computed = [name for name in common if canonical(name)] or common
    names = dict.fromkeys(canonical(name) or name for name in computed)
    return sorted(names, key=lambda name: name != canonical(MEASURES[0]))


RANGER = "Ranger's config.yaml (eval_metrics, or qrels and available_rankings)"
VALUES, RUNS, JUDGEMENTS, LABELS = "eval_metrics", "available_rankings", "qrels", "display_names"
HINT = "The toolkit's own settings, in place of today's defaults: docs/coming-from.md, Ranger."
LARGEST = 1 << 20  # bytes of a file that may be Ranger's
_KEY = re.compile(rf"^({VALUES}|{RUNS}):", re.MULTILINE)


def draft_of_ranger(contents: Contents) -> Draft | None:
    """Return a draft with the systems and tasks that the toolkit's file names."""
    files = [file for file in contents.folder.files if file.endswith((".yaml", ".yml")) and _is_rangers(contents, file)]
    if not files:
        return None
    if len(files) > 1:
        raise UserError(f"{contents.folder.place}: {files[0]} and {files[1]} are both Ranger's; give the folder of one")
    read = _File(contents, files[0])
    return read.runs() if RUNS in read.values else read.scores()


def _is_rangers(contents: Contents, file: str) -> bool:
    path = contents.folder.path(file)
    return path.stat().st_size <= LARGEST and bool(_KEY.search(path.read_text("utf-8", errors="replace")))


class _File:
    """The toolkit's file, and the files of the folder that it names."""

    def __init__(self, contents: Contents, name: str) -> None:
        self.contents, self.name = contents, name
        self.place = contents.folder.path(name)
        self.values: dict[str, Any] = read_yaml(self.place)
        self.labels = {task: str(label) for task, label in self._named(LABELS, self.values.get(LABELS, {})).items()}

    def scores(self) -> Draft:
        """Return a draft of tasks with a file of values per system."""
        entries, files = self._systems(VALUES, "scores")
        found = draft_of_systems(self.contents, entries, files)
        datasets = {task: entry | self._label(task) for task, entry in found.datasets.items()}
        return replace(found, datasets=datasets, used=frozenset([self.name, *files]), hints=(*found.hints, HINT))

    def runs(self) -> Draft:
        """Return a draft of tasks with judgements and a run per system."""
        systems, files = self._systems(RUNS, "runs")
        tasks = list(dict.fromkeys(task for entry in systems.values() for task in entry["runs"]))
        qrels = self._named(JUDGEMENTS, self.values.get(JUDGEMENTS))
        if missing := [task for task in tasks if task not in qrels]:
            raise UserError(f"{self.place}: {JUDGEMENTS}: no file of the task {missing[0]!r}, which has runs")
        judged = {task: self._found(f"{JUDGEMENTS}.{task}", qrels[task]) for task in tasks}
        datasets = {task: self.contents.folder.judgements(judged[task]) | self._label(task) for task in tasks}
        what = f"{counted(len(files), 'run')} of {counted(len(tasks), 'task')} with qrels, of Ranger's {self.name}"
        used = frozenset([self.name, *files, *judged.values()])
        return Draft(what, datasets, systems, tasks, used=used, hints=(HINT,))

    def _label(self, task: str) -> dict[str, str]:
        return {"label": self.labels[task]} if self.labels.get(task, task) != task else {}

    def _systems(self, key: str, of_entry: str) -> tuple[Entries, list[str]]:
        """Return the entries of systems, with a file for each task, and all these files."""
        folder, systems = self.contents.folder, Entries()
        files: dict[str, None] = {}
        for system, tasks in self._named(key, self.values.get(key)).items():
            of_tasks = self._named(f"{key}.{system}", tasks)
            compared = [task for task in self.labels or of_tasks if task in of_tasks]
            found = {task: self._found(f"{key}.{system}.{task}", of_tasks[task]) for task in compared}
            files |= dict.fromkeys(found.values())
            located = {task: folder.location(file) for task, file in found.items()}
            systems |= {system: {"type": "external", of_entry: located}} if located else {}
        return systems, list(files)

    def _named(self, key: str, value: Any) -> dict[str, Any]:
        """Return a mapping with names that are valid in a configuration. Raises UserError if it is not a mapping."""
        if not isinstance(value, Mapping) or not (value or key == LABELS):
            raise UserError(f"{self.place}: {key}: expected a mapping of at least one name")
        named = {self.contents.named(str(name)): inner for name, inner in value.items()}
        if "" in named or len(named) < len(value):
            raise UserError(
                f"{self.place}: {key}: two names are the same but for signs, or one has no letter; rename it"
            )
        return named

    def _found(self, key: str, place: Any) -> str:
        """Return the file of the folder that a path refers to. Raises UserError if there is none."""
        parts = PurePosixPath(str(place)).parts
        ends = ["/".join(parts[first:]) for first in range(len(parts))]
        if found := next((end for end in ends if end in self.contents.folder.files), None):
            return found
        raise UserError(f"{self.place}: {key}: {self.contents.folder.place} has no file {str(place)!r}")


RESULTS_FOLDERS = "MTEB's results (a folder per model, with a JSON file per task)"
MEASURE = "main score"


def draft_of_results(contents: Contents) -> Draft | None:
    """Return a draft with the folder's results as one leaderboard, and each folder of a model as a system."""
    folder = contents.folder
    files = [file for file in folder.files if file.endswith(".json") and "/" in file and _is_result(contents, file)]
    models = list(dict.fromkeys(PurePosixPath(file).parts[0] for file in files))
    if not models:
        return None
    systems: Entries = {}
    name = contents.named(folder.name) or "results"
    for model in models:
        system = contents.named(model) or "system"
        if system in systems:
            raise UserError(f"{folder.place}: two folders would be called {system}; rename one")
        list(rows_of_results(folder.path(model)))  # raises UserError
        systems[system] = {"type": "external", "scores": {name: folder.location(model)}}
    return draft_of_systems(contents, systems, files, contents.measure or MEASURE, leaderboard=True)


def _is_result(contents: Contents, file: str) -> bool:
    with contents.folder.path(file).open("rb") as opened:
        start = opened.read(1 << 16)
    return f'"{TASK}"'.encode() in start and f'"{SCORES}"'.encode() in start
