"""`make new` and `ranktrial new`: inspect a folder of data and write a configuration that runs as it is.

Reads the first lines of the folder's files, and the files that show what belongs together. Writes one file, which must
not exist yet. Before it is written, the configuration is checked in the same way as by a run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from ranktrial.common.errors import REFUSED, UserError, named
from ranktrial.common.given_places import check_new
from ranktrial.common.strict_yaml import parse_yaml
from ranktrial.experiment.resolution import resolve
from ranktrial.ir.outside_table import MOST_NAMES, WrongQuotes, is_heading, is_row_of_names, lacks_queries, read_table
from ranktrial.new.collection_layouts import BEIR, RUN_FILES, TREC, draft_of_beir, draft_of_runs, draft_of_trec
from ranktrial.new.draft import Draft, page
from ranktrial.new.folder import Folder, as_name, read_folder
from ranktrial.new.kinds_of_files import ROWS, Contents, Head, Kind, kind_of, read_head
from ranktrial.new.score_layouts import (
    LONG_TABLES,
    RANGER,
    RESULTS_FOLDERS,
    SCORE_FILES,
    draft_of_long_tables,
    draft_of_ranger,
    draft_of_results,
    draft_of_scores,
)

LAYOUTS: dict[str, Callable[[Contents], Draft | None]] = {  # in the order of recognition
    BEIR: draft_of_beir,
    TREC: draft_of_trec,
    RANGER: draft_of_ranger,
    RESULTS_FOLDERS: draft_of_results,
    RUN_FILES: draft_of_runs,
    LONG_TABLES: draft_of_long_tables,
    SCORE_FILES: draft_of_scores,
}
OTHER_FORMATS = (".json", ".yaml", ".yml")  # of MTEB and Ranger
CONFIGURATIONS = Path("config")
NAMED = 10  # files that are left out
UTF_16 = "UTF-16"  # which Excel calls Unicode text, in files of any name
SCHEMA = "yaml-language-server: $schema=schema.editor.json"


class NotRecognised(UserError):
    """A folder of no known layout."""


def look(folder: Folder, measure: str = "", columns: str = "", every: bool = False) -> Contents:
    """Return the folder with the types of its files; `measure` and `columns` say what values and columns are.

    A table with a line break within quotes has no type, unless `every` file is meant. Raises UserError for a damaged
    file, or a measure with an invisible character.
    """
    if refused := REFUSED.search(measure):
        raise UserError(f"MEASURE={measure}: contains {named(refused[0])}; expected a name such as accuracy")
    kinds: dict[Kind, list[str]] = {}
    heads: dict[str, Head] = {}
    for file in folder.files:
        head = read_head(folder.path(file))
        kind = None
        with suppress(*[] if every else [WrongQuotes]):
            kind = kind_of(head)
        if kind:
            heads[file] = head
            kinds.setdefault(kind, []).append(file)
    return Contents(folder, kinds, heads, measure, columns)


def draft(contents: Contents) -> Draft:
    """Return the draft of the first layout that fits the folder. Raises NotRecognised, with all layouts, if none."""
    for draft_of in LAYOUTS.values():
        found = draft_of(contents)
        if found and contents.measure and not found.measure:
            problem = "names the values of files of scores, and these are none; runs are scored by the key measures"
            raise UserError(f"MEASURE={contents.measure}: {problem}")
        if found:
            return found
    looked_for = "; ".join(LAYOUTS)
    there = ", ".join(f"{kind} ({len(files)})" for kind, files in contents.kinds.items()) or "none of these"
    problem = f"looked for {looked_for}; of {len(contents.folder.files)} files: {there}{others(contents)}"
    raise NotRecognised(f"{contents.folder.place}: {problem}")


def others(contents: Contents) -> str:
    """Return the files of no known content, as the end of a message; empty if there are none."""
    files = [file for file in contents.folder.files if file not in contents.heads]
    return f"; not recognised: {_named(files, contents.folder)}" if files else ""


def left_out(found: Draft, folder: Folder) -> list[str]:
    """Return lines with what the draft does not use; empty if it uses all."""
    files = [file for file in folder.files if file not in found.used]
    return [*found.left, *([f"left out: {_named(files, folder)}"] if files else [])]


def _named(files: list[str], folder: Folder) -> str:
    """Return files with the reasons why they are not recognised."""
    named = [file + (f" ({problem})" if (problem := unknown_columns(folder, file)) else "") for file in files[:NAMED]]
    return ", ".join(named) + (f" and {len(files) - NAMED:,} more" if len(files) > NAMED else "")


def unknown_columns(folder: Folder, file: str) -> str:
    """Return why a table is not recognised; empty for other files."""
    path = folder.path(file)
    if path.suffix in OTHER_FORMATS:
        return ""
    is_table = path.suffix.lower() in (".csv", ".tsv")
    try:
        table = read_table(path, is_row_of_names)
        rows = [row for _, row in islice(table.rows, ROWS)]
    except UserError as error:
        problem = str(error).removeprefix(f"{path}:").strip()
        return re.sub(r"^(\d+):", r"line \1:", problem) if is_table or UTF_16 in problem else ""
    if table.heading and rows:
        if wrong := [repr(name) for name in table.heading[1:] if not is_heading(["id", name])]:
            return f"columns cannot be called {', '.join(wrong[:MOST_NAMES])}; expected names with letters"
        return lacks_queries(table.heading) if any(table.number(field) is not None for field in rows[0]) else ""
    if not rows:
        return ("no rows below the heading" if table.heading else "empty") if is_table else ""
    unknown = is_table and kind_of(read_head(path)) is None
    return "scores in several columns need a heading" if unknown else ""


def text_of(found: Draft, folder: Folder, out: Path) -> str:
    """Return the configuration as text. Raises UserError if a run would reject it."""
    experiment = as_name(out.stem) or "mine"
    head = [
        *([SCHEMA] if out.parent == CONFIGURATIONS else []),
        f"Written by `make new` from {folder.place}: {found.what}. Every key: docs/configuration.md.",
        f"To run it: make run CONFIG={out}, or snakemake --configfile {out} where ranktrial is deployed.",
        *found.on_axes,
        *found.on_control,
        *found.on_measures,
        *found.hints,
        *(line[:1].upper() + line[1:] for line in left_out(found, folder)),
    ]
    text = page(head, found.sections(experiment))
    resolve(parse_yaml(text, out), str(out))
    return text


def write_new(path: Path, text: str) -> None:
    """Write a new file. Raises UserError if it exists."""
    if os.path.lexists(path):
        raise UserError(f"{path}: exists already; choose another place by OUT=config/NAME.yaml")
    if not path.parent.is_dir():
        raise UserError(f"{path}: no folder {path.parent}")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        os.link(partial, path)  # fails if another process created it meanwhile
    except FileExistsError:
        raise UserError(f"{path}: exists already; choose another place by OUT=config/NAME.yaml") from None
    finally:
        partial.unlink(missing_ok=True)


def write_configuration(place: str, measure: str = "", columns: str = "", out: Path | None = None) -> list[str]:
    """Write a configuration for a folder; return what was found, and what comes next, as lines.

    `out` is by default config/FOLDER.yaml, or FOLDER.yaml where there is no folder config. Raises UserError for a
    folder of no known layout, and for an existing file.
    """
    folder = read_folder(place)
    home = CONFIGURATIONS if CONFIGURATIONS.is_dir() else Path()
    out = out or home / f"{as_name(folder.name) or 'mine'}.yaml"
    if os.path.lexists(out):
        raise UserError(f"{out}: exists already; choose another place by OUT=config/NAME.yaml")
    check_new(out)
    found = draft(look(folder, measure, columns))
    write_new(out, text_of(found, folder, out))
    about = [line[:1].lower() + line[1:] for line in (*found.on_axes, *found.on_control, *found.on_measures)]
    return [f"{out}: {found.what}", *about, *left_out(found, folder), f"next: make run CONFIG={out}"]
