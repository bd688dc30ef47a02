"""A strict reader of YAML from users. It refuses surprising or endless input that the usual reader accepts.

It refuses duplicate keys, keys that are not text, dates, NaN and infinity, numbers beyond 64 bits, `010` and `1:30` (8
and 90 in YAML), custom tags, several documents, an alias inside its own anchor, oversized files, deep nesting and
invisible characters. It accepts text, numbers, true, false, null, lists and mappings. Only the mappings in NUMBERED may
have whole numbers as keys, which are read as text.

What is wrong with a text that is not YAML is reported with the line in which the mistake begins. PyYAML reports the
position at which it stopped. An unclosed quote swallows everything up to the next quote or the end of the file, and a
colon in a text is noticed only after it; so here the position where the quote, text or bracket begins is found.

The front matter of a README from outside: YAML between two lines of `---` at its beginning, as the hub's cards have.

It may hold anything, such as dates, numbers beyond 64 bits or thousands of results, and only some keys are of interest.
So only null, true and false are no texts, and the limits of strict_yaml on size, nesting and expanded aliases hold for
the wanted key. Reads one file, and writes nothing.
"""

from __future__ import annotations

import math
import re
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from ranktrial.common.errors import REFUSED_IN_FILES, UserError, named, shortened
from ranktrial.common.reading import open_regular
from ranktrial.common.wording import LARGEST

_HINTS = {
    "cannot start any token": "a tab or a character that YAML reserves; indent with spaces, or quote the text",
    "expected <block end>": "indent alike what belongs together, and quote a text that holds signs of YAML",
    "unknown escape character": "a backslash has a meaning in double quotes; use single ones",
    "another document": "expected one document; remove the line ---",
    "undefined alias": "an anchor (&name) stands before its alias (*name); quote a text that begins with *",
}


def mistake_of(error: yaml.MarkedYAMLError, text: str) -> tuple[int | None, str]:
    """The line (from 1; None if unknown) in which a mistake begins, and a description of it."""
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    begins = error.context_mark.line + 1 if error.context_mark else line
    context, problem = error.context or "", error.problem or ""
    noticed = f" (noticed in line {line})" if begins != line else ""
    if "quoted scalar" in context and "end of stream" in problem:
        return begins, "the quote that begins here is not closed"
    if "simple key" in context:
        return begins, f"a key is followed by ': ' and its value{noticed}"
    if "flow" in context and "expected ','" in problem:
        return begins, f"the bracket that begins here is not closed, or a text in it needs quotes{noticed}"
    if mark and (found := _of_scalars(problem, mark, text)):
        return found
    hint = next((hint for words, hint in _HINTS.items() if words in f"{context} {problem}"), "")
    return line, problem + (f" ({hint})" if hint else "")


def _of_scalars(problem: str, mark: yaml.Mark, text: str) -> tuple[int, str] | None:
    """The mistake that the text before its position suggests: a quote closed too late, or a colon."""
    *_, before, last = [None, None, *_scalars_before(text, mark)]
    quoted = next((one for one in (last, before) if one and one.style in ("'", '"') and _lines(one) > 1), None)
    if quoted and quoted.end_mark.line == mark.line:
        where = f"the quote that begins here is closed in line {quoted.end_mark.line + 1} only"
        return quoted.start_mark.line + 1, f"{where}; close it where its text ends"
    if last and "mapping values are not allowed" in problem:
        where = f" in line {mark.line + 1}" if mark.line != last.start_mark.line else ""
        cure = "quote a text that holds ': ', and indent alike what belongs together"
        return (
            last.start_mark.line + 1,
            f"the text {shortened(last.value)} that begins here has ': ' behind it{where}; {cure}",
        )
    if last and last.style in ("'", '"') and "expected <block end>" in problem and last.end_mark.line == mark.line:
        cure = "quote the text as a whole, and write ' twice within single quotes"
        return last.start_mark.line + 1, f"more text follows the quoted {shortened(last.value)}; {cure}"
    return None


def _scalars_before(text: str, mark: yaml.Mark) -> list[yaml.ScalarToken]:
    """The scalars, quoted or not, that end before a position, as far as the scanner gets."""
    scalars = []
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            if token.start_mark.index >= mark.index:
                break
            if isinstance(token, yaml.ScalarToken):
                scalars.append(token)
    except yaml.YAMLError:
        pass  # the scanner stops at the mistake itself
    return scalars


def _lines(token: yaml.ScalarToken) -> int:
    return int(token.end_mark.line - token.start_mark.line + 1)


LARGEST_FILE = 1 << 20  # bytes
DEEPEST = 20  # nested lists and mappings
MOST_VALUES = 100_000  # with aliases expanded
TEMPLATE = "__use_yte__"  # with this key, Snakemake would run Python code from the configuration
NUMBERED = ("epochs", "grades")  # keys whose mapping may have whole numbers (of training queries, grades) as keys
WHOLE = re.compile("0|-?[1-9][0-9]*")  # the one allowed spelling of such a key: 1, not 0x1 or +1
_STANDARD = "tag:yaml.org,2002:"
_KNOWN = {_STANDARD + name for name in ("map", "seq", "str", "int", "float", "bool", "null", "merge")}
_WORDS = {"int": "a number", "float": "a number", "bool": "true or false", "null": "null", "seq": "a list",
          "map": "a mapping"}  # fmt: skip


class Shallow:
    """A part of PyYAML's loaders: a limit on nesting that holds while the text is parsed."""

    depth = 0

    def compose_node(self, parent, index):
        self.depth += 1
        if self.depth > DEEPEST + 1:
            raise _refused(self.peek_event(), f"more than {DEEPEST} lists and mappings inside one another")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Reader(Shallow, yaml.SafeLoader):
    pass


def read_yaml(path: Path) -> dict:
    """Read a YAML file that holds one mapping. Raises UserError, with the line, for whatever is refused."""
    return parse_yaml(_text(path), path)


def parse_yaml(text: str, path: Path) -> dict:
    """The mapping in the text of a YAML file. Raises UserError, with the line, for whatever is refused."""
    try:
        reader = _Reader(text)
        reader.name = str(path)
        node = reader.get_single_node()
        if node is None or node.tag == f"{_STANDARD}null":
            raise UserError(f"{path}: is empty; expected keys and their values, such as experiment: NAME")
        if not isinstance(node, yaml.MappingNode):
            kind = _WORDS.get(node.tag.removeprefix(_STANDARD), "text")
            raise _refused(node, f"{kind} at the top; expected a mapping (key: value)")
        measure(node, partial(_check, reader))
        return reader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line, problem = mistake_of(error, text)
        raise UserError(f"{path}{f':{line}' if line else ''}: not YAML: {problem}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not YAML: {' '.join(str(error).split())}") from None


def _text(path: Path) -> str:
    """The text of a regular file in UTF-8 of at most LARGEST_FILE bytes."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UserError(f"{path}: is a folder; expected a YAML file")
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{path}: is a pipe or a device; expected a YAML file")
        content = b""
        if status.st_size:  # some files of /proc claim to be empty and never end
            with open(path, "rb") as file:
                content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise UserError(f"{str(path)!r}: is not a path: it contains a NUL character") from None
    if len(content) > LARGEST_FILE:
        raise UserError(f"{path}: is larger than {LARGEST_FILE >> 20} MB, so hardly a configuration")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or content[:4].count(0) > 1:
        raise UserError(f"{path}: is UTF-16 or UTF-32 text; save it as UTF-8")
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"the byte 0x{content[error.start]:02x} is not UTF-8 text; save the file as UTF-8"
        raise UserError(f"{path}:{line}: {problem}") from None
    if refused := REFUSED_IN_FILES.search(text):
        line = text.count("\n", 0, refused.start()) + 1
        raise UserError(f"{path}:{line}: contains {named(refused[0])}, which editors do not show; remove it")
    return text


def _refused(place: yaml.Node | yaml.Event, problem: str) -> UserError:
    return UserError(f"{place.start_mark.name}:{place.start_mark.line + 1}: {problem}")


def measure(node: yaml.Node, check: Callable[[yaml.Node], None]) -> None:
    """Apply `check` once to a node and to each below it. Raises UserError, with the line, if there are too many.

    They are counted with aliases expanded, and may not be nested too deeply or lie inside themselves.
    """
    _measure(node, check, {}, set())


def _measure(
    node: yaml.Node, check: Callable[[yaml.Node], None], measured: dict[int, tuple[int, int]], open_nodes: set[int]
) -> tuple[int, int]:
    """The number of values of a node, with aliases expanded, and its depth.

    `measured` has these results by the id of a node, so that an alias is not walked again. `open_nodes` are the ids
    of the nodes that contain this one.
    """
    if id(node) in open_nodes:
        raise _refused(node, "an alias (*name) lies inside what it names")
    if id(node) in measured:
        return measured[id(node)]
    open_nodes.add(id(node))
    check(node)
    parts = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    inner = [_measure(p, check, measured, open_nodes) for p in ([] if isinstance(node, yaml.ScalarNode) else parts)]
    values, depth = 1 + sum(size for size, _ in inner), 1 + max((deep for _, deep in inner), default=-1)
    if depth > DEEPEST:
        raise _refused(node, f"more than {DEEPEST} lists and mappings inside one another")
    if values > MOST_VALUES:
        raise _refused(node, f"contains more than {MOST_VALUES:,} values, with its aliases expanded")
    open_nodes.remove(id(node))
    measured[id(node)] = values, depth
    return values, depth


def _check(reader: _Reader, node: yaml.Node) -> None:
    """Raise UserError, with the line, for a value or a key that is refused."""
    if node.tag not in _KNOWN:
        raise _refused(node, _unknown_tag(node))
    if isinstance(node, yaml.ScalarNode):
        _check_scalar(node, reader)
    elif (node.tag == f"{_STANDARD}map") != isinstance(node, yaml.MappingNode) or node.tag == f"{_STANDARD}str":
        raise _refused(node, _unknown_tag(node))
    if isinstance(node, yaml.MappingNode):
        _numbers_as_text(node)
        _check_keys(node)


def _unknown_tag(node: yaml.Node) -> str:
    if node.tag == f"{_STANDARD}timestamp":
        return f"{node.value} is a date to YAML; no value here is a date; for a text write '{node.value}'"
    if node.tag == f"{_STANDARD}value":
        return "= has a meaning of its own in YAML; for the text write '='"
    shown = "!!" + node.tag.removeprefix(_STANDARD) if node.tag.startswith(_STANDARD) else node.tag
    return f"unknown tag {shortened(shown)}; remove it, and quote a text that begins with !"


def _numbers_as_text(node: yaml.MappingNode) -> None:
    """Convert plain whole numbers that are keys of the mappings in NUMBERED to text."""
    for key, mapping in node.value:
        if key.value in NUMBERED and isinstance(mapping, yaml.MappingNode):
            for number, _ in mapping.value:
                if number.tag == f"{_STANDARD}int" and WHOLE.fullmatch(number.value):
                    number.tag = f"{_STANDARD}str"


def _check_keys(node: yaml.MappingNode) -> None:
    seen = set()
    for key, _ in node.value:
        kind = key.tag.removeprefix(_STANDARD)
        if key.tag in _KNOWN and kind not in ("str", "merge"):
            written = f" {shortened(key.value)[1:-1]}" if isinstance(key, yaml.ScalarNode) and key.value else ""
            hint = f"; for a text write '{key.value}'" if written else "; a key is a text"
            raise _refused(key, f"the key{written} is {_WORDS[kind]} to YAML{hint}")
        if isinstance(key.value, str) and key.value in seen:
            raise _refused(key, f"duplicate key {shortened(key.value)}")
        if key.value == TEMPLATE:
            raise _refused(key, f"the key {TEMPLATE} would run code from the configuration, which is not allowed")
        seen.add(key.value if isinstance(key.value, str) else None)


def _check_scalar(node: yaml.ScalarNode, reader: _Reader) -> None:
    kind, written = node.tag.removeprefix(_STANDARD), node.value
    if refused := REFUSED_IN_FILES.search(written):
        raise _refused(node, f"the text {shortened(written)} contains {named(refused[0])}; remove it")
    if kind in ("str", "merge"):
        return
    try:
        value = reader.construct_object(node)
    except (ValueError, KeyError, OverflowError, yaml.YAMLError):
        if kind == "int" and re.fullmatch(r"[-+]?[0-9_]+", written):
            value = LARGEST + 1  # more digits than Python reads
        else:
            raise _refused(node, f"{shortened(written)} is not {_WORDS.get(kind, kind)}") from None
    if kind == "float" and not math.isfinite(value):
        raise _refused(node, f"{written} is not a finite number; expected a finite one")
    if kind == "int" and abs(value) > LARGEST:
        raise _refused(node, f"the number {shortened(written)[1:-1]} is beyond 64 bits; quote it if it is a text")
    if kind in ("int", "float") and (":" in written or re.fullmatch(r"[-+]?0[0-9_]+", written)):
        raise _refused(node, f"{written} is the number {value} to YAML; write {value}, or '{written}' for a text")
    if kind not in _WORDS:
        raise _refused(node, _unknown_tag(node))


_BEGINNING = r"\s*---[ \t]*(?:\r\n|\r|\n)"
_HEAD = re.compile(rf"{_BEGINNING}(.*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\r|\n|$)", re.DOTALL)


def front_matter(readme: Path, key: str, longest: int = LARGEST_FILE) -> Any:
    """What a README's front matter has under a key: a text, or lists and mappings of texts; None if it has nothing.

    Raises UserError if it is damaged or exceeds the limits, or does not end within the `longest` bytes.
    """
    with open_regular(readme) as file:
        content = file.read(longest)
    text = content.decode("utf-8-sig", errors="replace")
    head = _HEAD.match(text)
    if not head:
        if len(content) == longest and re.match(_BEGINNING, text):
            raise UserError(f"{readme}: its front matter has more than {longest >> 10:,} kB")
        return None
    try:
        reader = _Reader("\n" * text.count("\n", 0, head.start(1)) + head[1])  # so that the lines are the file's
        reader.name = str(readme)
        node = reader.get_single_node()
    except yaml.YAMLError as error:
        raise UserError(f"{readme}: its front matter is not YAML: {' '.join(str(error).split())[:200]}") from None
    if node is None:
        return None
    if not isinstance(node, yaml.MappingNode):
        raise UserError(f"{readme}: its front matter is not a mapping (key: value)")
    found = [value for name, value in node.value if name.value == key]
    if not found:
        return None
    measure(found[-1], lambda node: None)
    return _value(found[-1])


def _value(node: yaml.Node) -> Any:
    """The value of a node of bounded size; a key that is a list or mapping, and its value, are left out."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: _value(value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}
    if isinstance(node, yaml.SequenceNode):
        return [_value(part) for part in node.value]
    if node.tag == "tag:yaml.org,2002:null":
        return None
    if node.tag == "tag:yaml.org,2002:bool":
        return node.value.lower() in ("true", "yes", "on")
    return str(node.value)
