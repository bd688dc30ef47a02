"""Content as one HTML page that needs no other file and no network; reads page.css and page.js, writes nothing.

Figures are images inside the page (data: addresses), so that what one draws and names cannot meet another. The page
may be sent alone; it links to the explorer and to the files with its numbers, which lie beside it.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ranktrial.common.version import VERSION
from ranktrial.reports.writing.content import (
    EXPLORER,
    Block,
    Cell,
    Column,
    Figure,
    Folded,
    Items,
    Note,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    Text,
    plain,
    spans,
)

HERE = Path(__file__).resolve().parent
BESIDE = ("#", "tables/", "effects/", "meta/", "metrics/", "published-versus-ours")  # beginnings of links
WIDE = 8  # columns from which on a table is set closer
OPENS = ("Rows with an arrow open the explorer.", "Rows with an arrow lead to their comparison.")
LISTED = 24  # sections inside a section: more are not in the table of contents
SCALE, LEAST = 1.75, 1.2  # of a figure's points: as wide as it is shown, and on a narrow screen, where it scrolls
FONTS = "'DejaVu Sans', Verdana, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"  # matplotlib names the first alone
ROW = 8.0  # points of a figure's row above the base line of its label
_TEXT = re.compile(r'<text [^>]*text-anchor: start[^>]* y="([\d.]+)"[^>]*>([^<]*)</text>')
_UNSEEN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->|(?<=\n)\s+", re.DOTALL)
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="ranktrial {version}">
<title>{title}: report</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="page">
<nav aria-label="Contents">
<details class="toc" open><summary>Contents</summary>
{contents}
</details>
</nav>
<main id="main">
<h1>{title}</h1>
{body}
</main>
</div>
<script>
{script}</script>
</body>
</html>
"""


def escape(text: str) -> str:
    """Plain text as HTML, also inside an attribute."""
    return html.escape(text)


def document(title: str, blocks: Sequence[Block], figures: Mapping[str, str]) -> str:
    """The whole page; `figures` are the SVGs by the paths that the content names."""
    style, script = (HERE.joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    body = "\n".join(_block(block, figures, 2) for block in blocks)
    sections = [block for block in blocks if isinstance(block, Section)]
    return _PAGE.format(
        title=escape(title), version=VERSION, style=style, contents=_contents(sections), body=body, script=script
    )


def _contents(sections: Sequence[Section]) -> str:
    lines = []
    for section in sections:
        inner = [block for block in section.blocks if isinstance(block, Section) and block.anchor]
        below = _contents(inner) if 0 < len(inner) <= LISTED else ""
        lines.append(f'<li><a href="#{_anchor(section)}">{_heading(section)}</a>{below}</li>')
    return "\n".join(["<ol>", *lines, "</ol>"])


def _anchor(section: Section) -> str:
    return escape(re.sub(r"\s+", "-", section.anchor))


def _heading(section: Section) -> str:
    return _inline((section.title, Span(f" {section.name}", "quiet") if section.name else ""))


def _block(block: Block, figures: Mapping[str, str], level: int) -> str:
    match block:
        case Section(_, blocks):
            inner = "\n".join(_block(part, figures, level + 1) for part in blocks)
            anchor = f' id="{_anchor(block)}"' if block.anchor else ""
            return f"<section>\n<h{level}{anchor}>{_heading(block)}</h{level}>\n{inner}\n</section>"
        case Paragraph(text):
            return f"<p>{_inline(text)}</p>"
        case Note(text):
            return f'<p class="warning">{_inline(text)}</p>'
        case Items(texts):
            return "\n".join(["<ul>", *(f"<li>{_inline(text)}</li>" for text in texts), "</ul>"])
        case Figure():
            return _figure(block, block.svg or figures[block.path])
        case Folded(_, []):
            return ""
        case Folded(title, blocks, link, unfolded):
            named = any(isinstance(part, Table) and part.source for part in blocks)
            blocks = (
                blocks if named or not link else [*blocks, Paragraph(("All numbers: ", Span(link, link=link), "."))]
            )
            inner = "\n".join(_block(part, figures, level) for part in blocks)
            is_open = " open" if unfolded else ""
            return f"<details{is_open}><summary>{escape(title)}</summary>\n{inner}\n</details>"
        case Table():
            return "\n".join(_table(block))


def _inline(text: Text | Cell) -> str:
    return "".join(map(_span, spans(text)))


def _span(span: Span) -> str:
    shown = escape(span.text)
    if span.look and shown:
        tag = {"strong": "strong", "raised": "sup"}.get(span.look)
        shown = f"<{tag}>{shown}</{tag}>" if tag else f'<span class="{span.look}">{shown}</span>'
    leads = span.link.startswith(BESIDE) or EXPLORER in span.link
    return f'<a href="{escape(span.link)}">{shown}</a>' if leads else shown


def _figure(figure: Figure, svg: str) -> str:
    """An image, which a narrow screen scrolls."""
    body = _UNSEEN.sub("", svg[svg.index("<svg") :]).replace("font-family: 'DejaVu Sans'", f"font-family: {FONTS}")
    points = float(re.search(r'width="([\d.]+)pt"', body)[1])  # type: ignore[index]
    source = base64.b64encode(body.encode()).decode()
    shown = escape(figure.shows)
    style = f"width:{SCALE * points:.0f}px;min-width:{LEAST * points:.0f}px"
    image = f'<img alt="{shown}" style="{style}" src="data:image/svg+xml;base64,{source}">'
    if figure.rows:
        image = f'<div class="drawn" style="{style}">{image}{"".join(row_links(body, figure.rows))}</div>'
    said = " ".join(
        filter(None, [figure.caption, OPENS[_within(figure.rows)] if figure.rows and figure.caption else ""])
    )
    caption = f"<figcaption>{escape(said)}</figcaption>\n" if said else ""
    return (
        f'<figure>\n<div class="scroll" tabindex="0" role="group" aria-label="{shown}">'
        f"{image}</div>\n{caption}</figure>"
    )


def _within(rows: Sequence[tuple[str, str]]) -> bool:
    """Whether rows lead to another place of the page."""
    return rows[0][1].startswith("#")


def row_links(svg: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A link over each row of a figure, where its label stands; a label that breaks is found by its first line."""
    if not (box := re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', svg)):
        return
    height = float(box[1])
    drawn = [(float(y), html.unescape(text)) for y, text in _TEXT.findall(svg)]
    for label, link in rows:
        at = next((at for at, (_, text) in enumerate(drawn) if text == label), None)
        at = next((at for at, (_, text) in enumerate(drawn) if label.startswith(text)), None) if at is None else at
        if at is not None:
            y, drawn = drawn[at][0], drawn[at + 1 :]
            place = f"top:{100 * (y - ROW) / height:.2f}%;height:{130 * ROW / height:.2f}%"
            name = escape(f"{label}: {'its comparison' if link.startswith('#') else 'explorer'}")
            yield f'<a class="row" style="{place}" href="{escape(link)}" aria-label="{name}" title="{name}"></a>'


def _table(table: Table) -> Iterator[str]:
    caption = escape(table.caption)
    name = escape(table.caption or plain(table.columns[0].heading))
    look = ' class="wide"' if len(table.columns) >= WIDE else ""
    yield f'<div class="scroll" tabindex="0" role="group" aria-label="{name}">\n<table{look}>'
    source = _span(Span(table.source, link=table.source)) if table.source else ""
    if told := " ".join(filter(None, [caption, f"Numbers: {source}" if source else ""])):
        yield f"<caption><span>{told}</span></caption>"
    heads = (f'<th scope="col"{_aligned(column)}>{escape(column.heading)}</th>' for column in table.columns)
    yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    for tag, rows in (*(("tbody", block) for block in table.blocks), ("tfoot", table.foot)):
        if rows:
            yield "\n".join([f"<{tag}>", *(_row(row, table.columns) for row in rows), f"</{tag}>"])
    yield "</table>\n</div>"


def _row(row: Row, columns: Sequence[Column]) -> str:
    cells = []
    for place, (cell, column) in enumerate(zip(row, columns, strict=True)):
        tag = "td" if place else 'th scope="row"'
        sort = f' data-sort="{cell.sort}"' if isinstance(cell, Cell) else ""
        shown = _inline(cell)
        if isinstance(cell, Cell) and cell.source:
            shown = f'<a class="number" href="{escape(cell.source)}">{shown}</a>'
        cells.append(f"<{tag}{_aligned(column)}{sort}>{shown}</{tag[:2]}>")
    return f"<tr>{''.join(cells)}</tr>"


def _aligned(column: Column) -> str:
    return {"r": ' class="n"', "c": ' class="c"'}.get(column.align, "")
