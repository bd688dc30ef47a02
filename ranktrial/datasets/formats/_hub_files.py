"""The files of a collection in a hub repository, from its card or else from the names of files.

A card (README.md) lists configurations, each with splits and patterns of files. MTEB and BEIR have `corpus`, `queries`
and `default` or `qrels`, of a subset `sw-corpus`, `sw-queries`, `sw-qrels`; BRIGHT has `documents` and `examples`, of
which a subset is one split, and its judgements are in `examples`. Without a card, a folder is a configuration, and the
name of a file its split: `queries/test-00000-of-00002.parquet`. Reads the card, and writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from ranktrial.common.errors import REFUSED, UserError
from ranktrial.common.strict_yaml import front_matter
from ranktrial.ir.collection import SPLITS

CARD = "README.md"
ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst", ".tsv")  # the first is used if there are several
CONFIGURATIONS = {
    "corpus": ("corpus", "documents"),
    "queries": ("queries", "query", "examples"),
    "judgements": ("default", "qrels"),
}
SPLIT_OF = {"train": "train", "dev": "dev", "validation": "dev", "test": "test"}
LONGEST = 1000  # characters of a name or pattern in a card
NO_SPLITS = "train"  # the hub's name for data without splits: NanoBEIR's corpus, queries and judgements all have it
_SHARD = re.compile(r"-(\d{5})-of-(\d{5})$")
Splits = dict[str, list[str]]  # split -> its files
Configurations = dict[str, Splits]


class Files(NamedTuple):
    """The files of a collection, relative to the repository; judgements by train, dev and test, possibly none."""

    corpus: list[str]
    queries: list[str]
    judgements: Splits

    @property
    def every(self) -> list[str]:
        return [*self.corpus, *self.queries, *(name for names in self.judgements.values() for name in names)]


def collection_files(names: Iterable[str], card: Path | None, subset: str | None) -> Files:
    """The files among `names` of a collection, or of a subset. Raises UserError if it has no corpus or queries."""
    data = sorted(name for name in names if _stem(name) is not None)
    known = [listed(card, data) if card else {}, by_names(data)]
    corpus, queries = (_found(part, subset, known) for part in ("corpus", "queries"))
    if len(corpus) > 1:
        problem = f"the corpus has the splits {', '.join(corpus)}; expected one: choose it by `subset`"
        raise UserError(problem)
    judged = choose("judgements", subset, known) or {}
    if corpus.keys() == queries.keys() == judged.keys() == {NO_SPLITS}:
        judged = {"test": judged[NO_SPLITS]}
    files = Files(_files(corpus), _files(queries), judged_splits(judged))
    _check_shards(files.every)
    return files


def judgement_files(names: Iterable[str]) -> Splits:
    """The files of a repository of judgements alone, by split: `test.tsv`, `test-00000-of-00001.parquet`."""
    data = [name for name in sorted(names) if _stem(name) is not None]
    alone = {split: files for splits in by_names(data).values() for split, files in splits.items()}
    return judged_splits(alone)


def by_names(names: Iterable[str]) -> Configurations:
    """The configurations by the names of files; if a split has several forms, the first is used."""
    found: Configurations = {}
    for ending in ENDINGS:
        before = {(configuration, split) for configuration, splits in found.items() for split in splits}
        for name in names:
            folder, _, last = (_stem(name) or "").rpartition("/")
            split = _SHARD.sub("", last)
            if name.endswith(ending) and (folder or split, split) not in before:
                found.setdefault(folder or split, {}).setdefault(split, []).append(name)
    return found


def _stem(name: str) -> str | None:
    """A file's name without its suffix; None if it is not a data file, or hidden."""
    if any(part.startswith(".") for part in name.split("/")):
        return None
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), None)


def listed(card: Path, names: list[str]) -> Configurations:
    """The configurations that a card lists, with the existing files. Raises UserError for a damaged card."""
    try:
        entries = front_matter(card, "configs") or []
        return {_name(entry["config_name"]): _splits(entry["data_files"], names) for entry in entries}
    except (KeyError, TypeError, ValueError):
        problem = "its head cannot be read; expected under configs are entries with config_name and data_files"
        raise UserError(f"{card.name}: {problem}, names and patterns of files") from None
    except UserError as error:
        raise UserError(str(error).replace(str(card), card.name)) from None


def _splits(data_files: Any, names: list[str]) -> Splits:
    found: Splits = {}
    for split, patterns in _patterns(data_files):
        kept = [name for name in names if any(matches(name, pattern) for pattern in patterns)]
        if kept:
            found.setdefault(split, []).extend(kept)
    return found


def matches(name: str, pattern: str) -> bool:
    """Whether a file has a pattern, as the hub reads one: `*` stays within a folder, `**/` is any number of folders."""
    parts, reached = name.split("/"), {0}  # how many parts of the name the pattern can have consumed
    wanted = pattern.split("/")
    for number, part in enumerate(wanted, 1):
        if part == "**" and reached:
            least = min(reached) + (number == len(wanted))  # the last part is the file itself
            reached = set(range(least, len(parts) + 1))
        else:
            reached = {place + 1 for place in reached if place < len(parts) and fnmatchcase(parts[place], part)}
    return len(parts) in reached


def _patterns(data_files: Any) -> Iterator[tuple[str, list[str]]]:
    """Each split with its patterns; a card may have one pattern, several, or those of each split."""
    entries = data_files if isinstance(data_files, list) else [data_files]
    for entry in entries:
        if isinstance(entry, dict):
            paths = entry["path"]
            yield _name(entry["split"]), list(map(_text, paths if isinstance(paths, list) else [paths]))
        else:
            yield NO_SPLITS, [_text(entry)]


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST or REFUSED.search(value):
        raise ValueError
    return value


def _name(value: Any) -> str:
    if not _text(value):
        raise ValueError
    return str(value)


def choose(part: str, subset: str | None, known: Iterable[Configurations]) -> Splits | None:
    """The splits of a part's configuration, or of a subset's; None if there is none."""
    for configurations in known:
        for name in CONFIGURATIONS[part]:
            of_subset = (f"{subset}-{name}", f"{name}-{subset}") if subset else (name,)
            if splits := next((configurations[one] for one in of_subset if configurations.get(one)), None):
                return splits
            if subset and subset in configurations.get(name, {}):
                return {subset: configurations[name][subset]}
        if subset and part == "judgements" and configurations.get(subset):
            return configurations[subset]
    return None


def _found(part: str, subset: str | None, known: list[Configurations]) -> Splits:
    splits = choose(part, subset, known)
    if splits is None:
        names = CONFIGURATIONS[part]
        expected = " or ".join(names)
        if subset:
            expected = f"{subset}-{names[0]}, or the split {subset} of {expected}"
        there = ", ".join(sorted({name for configurations in known for name in configurations})[:20]) or "none"
        raise UserError(f"no configuration with the {part}: expected {expected}; there are {there}")
    return splits


def judged_splits(splits: Splits) -> Splits:
    """The files of judgements by our names of splits; a split of another name is test if it is the only one."""
    if len(splits) == 1 and not SPLIT_OF.keys() & splits.keys():
        return {"test": _files(splits)}
    if unknown := [name for name in splits if name not in SPLIT_OF]:
        expected = ", ".join(SPLIT_OF)
        raise UserError(f"judgements have the split {unknown[0]}; expected {expected}, or a `subset` that is one")
    ours = {SPLIT_OF[name]: files for name, files in splits.items()}
    return {split: ours[split] for split in SPLITS if split in ours}


def _files(splits: Splits) -> list[str]:
    return list(dict.fromkeys(name for names in splits.values() for name in names))


def _check_shards(names: list[str]) -> None:
    """Raise UserError if the names of shards count more of them than exist."""
    there = set(names)
    for name in names:
        if shard := _SHARD.search(_stem(name) or ""):
            beside = (f"{name[: shard.start()]}-{number:05}-of-{shard[2]}" for number in range(int(shard[2])))
            ending = name[shard.end() :]
            if lacking := next((one for one in beside if one + ending not in there), None):
                raise UserError(f"{lacking}{ending} is missing: the file beside it says that there are {int(shard[2])}")
