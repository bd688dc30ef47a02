"""The meaning of a Python source as a digest of its syntax tree, without comments, docstrings, descriptions and layout.

A tree is written as the fields with a meaning, in text that does not depend on the version of Python: empty fields, as
those added by later versions mostly are, are left out. One limitation remains: a construct that two versions parse into
different trees (so far, some format specifications of f-strings) has two digests. Reads and writes nothing.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from typing import Any

SILENT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # implied by other fields, or without effect


def digest(tree: ast.Module) -> str:
    """The SHA-256 of the meaning of a source."""
    words: list[str] = []
    _add(tree, words)
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def _add(node: ast.AST, words: list[str]) -> None:
    """Add a node and its descendants, in brackets; strings are quoted, so that nothing else looks like a string."""
    kind = type(node)
    words.append(f"({kind.__name__}")
    described = kind is ast.Subscript and _is_annotated(node)
    for field in _fields(kind):
        value = getattr(node, field, None)
        if described and field == "slice":
            value = [value.elts[0], *(part for part in value.elts[1:] if not _is_constant_text(part))]
        if value is None or value == []:
            continue
        words.append(field)
        for part in value if isinstance(value, list) else (value,):
            if not isinstance(part, ast.AST):
                words.append(ascii(part))
            elif not _is_text(part):
                _add(part, words)
    words.append(")")


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(field for field in kind._fields if field not in SILENT)


def _is_text(node: Any) -> bool:
    """Whether a statement is only a text, such as a docstring."""
    return type(node) is ast.Expr and _is_constant_text(node.value)


def _is_constant_text(node: Any) -> bool:
    return type(node) is ast.Constant and isinstance(node.value, str)


def _is_annotated(node: Any) -> bool:
    """Whether a subscript is a type with its description: Annotated[int, "documents per query"]."""
    return getattr(node.value, "id", None) == "Annotated" and type(node.slice) is ast.Tuple
