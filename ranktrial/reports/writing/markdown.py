"""Content as Markdown; reads and writes nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ranktrial.common.markdown_text import escape
from ranktrial.reports.writing.content import (
    Block,
    Cell,
    Figure,
    Folded,
    Items,
    Note,
    Paragraph,
    Section,
    Span,
    Table,
    Text,
    spans,
)

_START = re.compile(r"^(\s*\d*)(>|[#+.)=-](?=[\s#=-]|$))")  # a quotation, a heading, a list, a rule
_NOT_BOLD = ("", "quiet", "raised")


def document(title: str, blocks: Sequence[Block]) -> str:
    """A page below its title."""
    return _block(Section(title, blocks), 1) + "\n"


def _block(block: Block, level: int) -> str:
    match block:
        case Section(title, blocks, name):
            named = f" ({escape(name)})" if name and name != title else ""
            heading = f"{'#' * level} {escape(title)}{named}"
            return _together(heading, *(_block(part, level + 1) for part in blocks))
        case Paragraph(text):
            return _line(text)
        case Note(text):
            return f"**Note**: {_inline(text)}"
        case Items(texts):
            return "\n".join(f"- {_line(text)}" for text in texts)
        case Figure(path, _, shows):
            return f"![{escape(shows)}]({path})"
        case Folded(title, blocks, link):
            shown = [part for part in blocks if isinstance(part, Figure)] if link else blocks
            title = _inline(Span(title, "" if link else "strong", link))
            return _together(title, *(_block(part, level) for part in shown))
        case Table():
            source = f"Numbers: {_span(Span(block.source, link=block.source))}" if block.source else ""
            return _together(_table(block), " ".join(filter(None, [escape(block.caption), source])))


def _together(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _line(text: Text) -> str:
    return _START.sub(r"\1\\\2", _inline(text))


def _inline(text: Text | Cell) -> str:
    return "".join(map(_span, spans(text)))


def _span(span: Span) -> str:
    shown = escape(span.text) if span.look in _NOT_BOLD or not span.text else f"**{escape(span.text)}**"
    return f"[{shown}]({span.link})" if span.link and not span.link.startswith("#") else shown


def _table(table: Table) -> str:
    """Columns are as wide as their widest cell, so that the source reads as a table, too."""
    rows = [*(row for block in table.blocks for row in block), *table.foot]
    heads = [column.heading for column in table.columns]
    lines = [[_in_cell(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(3, *map(len, cells)) for cells in zip(*lines, strict=True)]
    signs = [">" if column.align == "r" else "<" for column in table.columns]
    head, *body = [
        f"| {' | '.join(f'{cell:{sign}{wide}}' for cell, sign, wide in zip(line, signs, widths, strict=True))} |"
        for line in lines
    ]
    ends = {">": "-:", "<": "--"}
    rule = "|".join("-" * wide + ends[sign] for sign, wide in zip(signs, widths, strict=True))
    return "\n".join([head, f"|{rule}|", *body])


def _in_cell(text: Text | Cell) -> str:
    return _inline(text).replace("|", "\\|")
