"""What a Python source means, as a digest of its syntax tree: comments, docstrings and layout have no part in it.

A tree is read as the fields that say something, in text that does not depend on the version of Python: fields that are
empty, as those of later versions mostly are, are left out. What remains: a construct that two versions parse into
different trees (so far, some format specifications of f-strings) has a digest for each. Reads and writes nothing.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from typing import Any

SILENT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # they follow from the rest, or have no effect


def digest(tree: ast.Module) -> str:
    """The SHA-256 of what a source means."""
    words: list[str] = []
    _add(tree, words)
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def _add(node: ast.AST, words: list[str]) -> None:
    """Add a node and all below it, in brackets; strings are in quotes, so no other word looks like one of them."""
    kind = type(node)
    words.append(f"({kind.__name__}")
    for field in _fields(kind):
        value = getattr(node, field, None)
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
    """Whether a statement is a text alone, such as a docstring."""
    return type(node) is ast.Expr and type(node.value) is ast.Constant and isinstance(node.value.value, str)
