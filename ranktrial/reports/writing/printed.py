"""A table to print, as a page in Markdown and as LaTeX (booktabs); writes both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ranktrial.common.files import write_text
from ranktrial.reports.writing import latex, markdown
from ranktrial.reports.writing.content import Block


def write_printed(title: str, blocks: Sequence[Block], page: Path, tex: Path, on_page: Sequence[Block] = ()) -> None:
    """Write the blocks to both files; the page has the title and, at its end, the blocks `on_page`."""
    write_text(page, markdown.document(title, [*blocks, *on_page]))
    write_text(tex, latex.document(blocks))
