"""The content of a page or a table, as small records of plain text; reads and writes nothing.

Functions of content return these records once. Nothing in them is escaped: the renderers to Markdown,
HTML and LaTeX do that, each in one place.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace

EXPLORER = "explorer/index.html"  # relative to the report


@dataclass(frozen=True)
class Span:
    """A piece of text that looks different or leads somewhere.

    `look`: strong, quiet, raised, or the kind of an answer (better, worse, open). `link`: a path relative to the page,
    or # and the anchor of a section.
    """

    text: str
    look: str = ""
    link: str = ""


Text = str | Span | tuple[str | Span, ...]


@dataclass(frozen=True)
class Cell:
    """A cell that is sorted by a value that its text does not contain; `source` is the file or folder of its number."""

    text: Text
    sort: float
    source: str = ""


Row = Sequence[Text | Cell]


@dataclass(frozen=True)
class Column:
    """A column: its heading, l, c or r for where its cells stand, and a heading that it shares with its neighbours."""

    name: str
    align: str = "l"
    group: str = ""

    @property
    def heading(self) -> str:
        """Both headings in one."""
        return f"{self.group} {self.name}".strip()


@dataclass(frozen=True)
class Table:
    """A table: blocks of rows, and rows that stay below them whatever the table is sorted by.

    `source`: the file with its numbers at full precision, relative to the page; empty if the table is in such a file.
    """

    columns: list[Column]
    blocks: Sequence[Sequence[Row]]
    foot: Sequence[Row] = ()
    caption: str = ""
    source: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: Text


@dataclass(frozen=True)
class Note:
    """A warning that is shown prominently."""

    text: Text


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: Sequence[Text]


@dataclass(frozen=True)
class Figure:
    """A figure: its file relative to the page, its caption, and what it shows, for those who do not see it.

    `rows` are the labels of its rows from the top, each with what it leads to. `svg`: the figure itself, if no file has
    it; a page in Markdown leaves it out.
    """

    path: str
    caption: str
    shows: str
    rows: Sequence[tuple[str, str]] = ()
    svg: str = ""


@dataclass(frozen=True)
class Folded:
    """Blocks that a reader unfolds. A page that cannot fold has a link to the file that holds them, and the figures."""

    title: str
    blocks: Sequence[Block]
    link: str = ""
    unfolded: bool = False


@dataclass(frozen=True)
class Section:
    """Blocks below a heading; `name` is what the configuration calls the subject, `anchor` is unique on its page."""

    title: str
    blocks: Sequence[Block] = field(default_factory=list)
    name: str = ""
    anchor: str = ""


Block = Paragraph | Note | Items | Table | Figure | Folded | Section


def spans(text: Text | Cell) -> list[Span]:
    """The pieces of a text."""
    if isinstance(text, Cell):
        return spans(text.text)
    pieces = text if isinstance(text, tuple) else (text,)
    return [piece if isinstance(piece, Span) else Span(piece) for piece in pieces]


def plain(text: Text | Cell) -> str:
    """A text without its looks."""
    return "".join(span.text for span in spans(text))


def captions_once(blocks: Sequence[Block]) -> list[Block]:
    """The blocks with each caption of figures where it first stands."""
    return _captions_once(blocks, set())


def _captions_once(blocks: Sequence[Block], before: set[str]) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Figure):
            found.append(replace(block, caption="") if block.caption in before else block)
            before.add(block.caption)
        elif isinstance(block, Section | Folded):
            found.append(replace(block, blocks=_captions_once(block.blocks, before)))
        else:
            found.append(block)
    return found


def columns(headings: Iterable[str], words: int = 1) -> list[Column]:
    """Columns: the first `words` headings are of words, the others of numbers."""
    return [Column(heading, "l" if place < words else "r") for place, heading in enumerate(headings)]


def bulleted(texts: Sequence[Text]) -> list[Block]:
    """A list, if it has any items."""
    return [Items(texts)] if texts else []


def counted(number: int, one: str, several: str = "") -> str:
    """A number of things: 1 query, 2 queries."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def listed(parts: Sequence[str]) -> str:
    """Parts as a list in a sentence: a, b and c."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def without_files(blocks: Sequence[Block], there: Container[str] = ()) -> list[Block]:
    """The blocks of a page beside which only the files `there` lie: without links and sources that lead elsewhere."""
    return [_without_files(block, there) for block in blocks]


def _without_files(block: Block, there: Container[str]) -> Block:
    match block:
        case Section():
            return replace(block, blocks=without_files(block.blocks, there))
        case Folded():
            return replace(block, blocks=without_files(block.blocks, there), link=_kept(block.link, there))
        case Table():
            rows = [[[_cell(cell, there) for cell in row] for row in rows] for rows in (*block.blocks, block.foot)]
            return replace(block, blocks=rows[:-1], foot=rows[-1], source=_kept(block.source, there))
        case Items(texts):
            return Items([_text(text, there) for text in texts])
        case Figure():
            return replace(block, rows=[(label, link) for label, link in block.rows if _kept(link, there)])
        case Paragraph(text):
            return Paragraph(_text(text, there))
        case Note(text):
            return Note(_text(text, there))


def _cell(cell: Text | Cell, there: Container[str]) -> Text | Cell:
    if isinstance(cell, Cell):
        return replace(cell, text=_text(cell.text, there), source=_kept(cell.source, there))
    return _text(cell, there)


def _text(text: Text, there: Container[str]) -> Text:
    if isinstance(text, tuple):
        return tuple(_piece(piece, there) for piece in text)
    return _piece(text, there)


def _piece(piece: str | Span, there: Container[str]) -> str | Span:
    return replace(piece, link=_kept(piece.link, there)) if isinstance(piece, Span) else piece


def _kept(link: str, there: Container[str]) -> str:
    """A link within the page or to a file that is there, or to a place in it; empty for any other."""
    return link if link.startswith("#") or link.partition("#")[0] in there else ""
