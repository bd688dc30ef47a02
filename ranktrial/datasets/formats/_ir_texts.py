"""The text of a document or query of ir_datasets: that of chosen fields, or the library's default text.

A document type (a NamedTuple of the library) states its fields before anything is fetched, so an unknown field is
reported at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ranktrial.common.errors import UserError


def document_parts(kind: Any, fields: list[str] | None, where: str) -> Callable[[Any], tuple[str, str]]:
    """A function that returns title and text of a document of a type. Raises UserError for a missing field."""
    if fields is not None:
        _check_fields(kind, fields, f"{where}: fields: its documents have")
        rest = text_fields(fields)
        titled = rest != fields

        def chosen(document: Any) -> tuple[str, str]:
            texts = [plain(getattr(document, field), field) for field in rest]
            return plain(document.title, "title") if titled else "", " ".join(filter(None, texts))

        return chosen
    if not hasattr(kind, "default_text"):
        names = ", ".join(field for field in kind._fields if field != "doc_id")
        raise UserError(f"{where}: the library does not say what the text is: choose some of fields: {names}")

    def default(document: Any) -> tuple[str, str]:
        text, title = plain(document.default_text(), "default_text"), plain(getattr(document, "title", ""), "title")
        # The title is separated if the text begins with it, so that both can be indexed as fields.
        return (title, text[len(title) :].strip()) if title and text.startswith(title) else ("", text.strip())

    return default


def text_fields(fields: list[str]) -> list[str]:
    """The chosen fields that are a document's text: without the title, unless nothing else is chosen."""
    return [field for field in fields if field != "title"] or fields


def query_text(kind: Any, field: str | None, where: str) -> Callable[[Any], str]:
    """A function that returns the text of a query of a type. Raises UserError for a missing field."""
    if field is not None:
        _check_fields(kind, [field], f"{where}: query_field: its queries have")
        return lambda query: plain(getattr(query, field), field)
    if not hasattr(kind, "default_text"):
        names = ", ".join(name for name in kind._fields if name != "query_id")
        raise UserError(f"{where}: the library does not say what the text is: choose a query_field of {names}")
    return lambda query: plain(query.default_text(), "default_text")


def _check_fields(kind: Any, fields: list[str], problem: str) -> None:
    known = [field for field in kind._fields if field not in ("doc_id", "query_id")]
    if unknown := [field for field in fields if field not in known]:
        raise UserError(f"{problem} no {unknown[0]!r}; expected some of {', '.join(known)}")


def plain(value: Any, field: str) -> str:
    """A field's value as text, with lists joined. Raises TypeError for a value that is not text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return " ".join(value)
    raise TypeError(f"the field {field} is no text but {type(value).__name__}")
