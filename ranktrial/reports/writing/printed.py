"""Content as a page in Markdown, its tables in LaTeX with booktabs, for \\input; writes both for a table to print.

In LaTeX, each table is a float with its caption, which names the measure, a label, and below it what marks mean;
sentences stand above all as comments. Tables are set small and close, with long headings in several lines. One that a
column of a two-column page has no room for spans both; one that is too wide even so is made smaller by graphicx.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from ranktrial.common.files import write_text
from ranktrial.common.wording import escape
from ranktrial.reports.writing.content import (
    Block,
    Cell,
    Column,
    Figure,
    Folded,
    Items,
    Note,
    Paragraph,
    Section,
    Span,
    Table,
    Text,
    plain,
    spans,
)

_SMALL_GREEK = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu",
    "nu", "xi", "mathrm{o}", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
]  # fmt: skip
_CAPITAL_GREEK = {"Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma",
                  "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega"}  # fmt: skip
_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$",
    "\N{MINUS SIGN}": "$-$", "\N{MULTIPLICATION SIGN}": r"$\times$", "→": r"$\rightarrow$", "←": r"$\leftarrow$",
    "↓": r"$\downarrow$", "↑": r"$\uparrow$",
    "\N{EN DASH}": "--", "\N{EM DASH}": "---", "\N{NO-BREAK SPACE}": "~", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$",
    "\N{DAGGER}": r"$\dagger$", "\N{DOUBLE DAGGER}": r"$\ddagger$",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``", "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{LEFT SINGLE QUOTATION MARK}": "`", "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    **{chr(code): f"$\\{name}$" for code, name in enumerate(_SMALL_GREEK, ord("\N{GREEK SMALL LETTER ALPHA}"))},
    **{letter: f"$\\{name}$" for letter, name in _CAPITAL_GREEK.items()},
}  # fmt: skip
PACKAGES = "\\usepackage{booktabs,graphicx}"  # what a table needs, for its comments
HEADING = 13  # characters of a line of a heading
COLUMN = 78  # characters of a small table that a column of a two-column page has room for
SMALL = r"{\footnotesize\setlength{\tabcolsep}{3pt}%"
FITTING = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_VARIABLES = ("n", "k", "p")  # headings that are mathematics
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def latex_escaped(text: str) -> str:
    """Plain text as LaTeX: its special signs escaped, minus signs, arrows and powers as mathematics."""
    small = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|[₀₁₂₃₄₅₆₇₈₉]+")
    parts, end = [], 0
    for match in small.finditer(text):
        place = "_" if match[0][0] in "₀₁₂₃₄₅₆₇₈₉" else "^"
        digits = match[0].translate(_LOWERED if place == "_" else _RAISED)
        parts += [_signs(text[end : match.start()]), f"${place}{{{digits}}}$"]
        end = match.end()
    joined = "".join([*parts, _signs(text[end:])])
    return re.sub(r"(?<!\\)\$\$", "", joined)  # neighbouring mathematics is one formula


def _signs(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in text)


def latex_document(name: str, blocks: Sequence[Block]) -> str:
    """The tables among some blocks, each a float labelled tab:{name}, tab:{name}-2 …, with the lists that
    follow it; other texts stand above them as LaTeX comments, for whoever opens the file.
    """
    comments = [f"% {' '.join(line.split())}" for line in (PACKAGES, *_comments(blocks))]
    before: list[str] = []
    floats: list[tuple[Table, list[str]]] = []
    for block in _leaves(blocks):
        match block:
            case Table():
                floats.append((block, []))
            case Items(texts):
                said = " ".join(latex_escaped(plain(text)) for text in texts)
                (floats[-1][1] if floats else before).append(rf"{{\scriptsize\raggedright {said}\par}}")
    made = [_float(f"tab:{name}{f'-{place}' if place > 1 else ''}", *one) for place, one in enumerate(floats, 1)]
    return "\n".join([*comments, *before, *made])


def _comments(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Section():
                yield from _comments(block.blocks)
            case Paragraph(text) | Note(text):
                yield plain(text)


def _leaves(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield from _leaves(block.blocks) if isinstance(block, Section) else [block]


def _float(label: str, table: Table, notes: list[str]) -> str:
    """A table with its caption above and its notes below; it spans two columns if one has no room for it."""
    cells = [[plain(cell) for cell in row] for rows in (*table.blocks, table.foot) for row in rows]
    heads = [max(map(len, _lines(column.name))) for column in table.columns]
    wide = sum(map(max, zip(heads, *([len(cell) for cell in row] for row in cells), strict=True)))
    kind = "table*" if wide + 2 * len(heads) > COLUMN else "table"
    titled = [rf"\caption{{{latex_escaped(table.caption)}}}\label{{{label}}}\smallskip"] if table.caption else []
    return "\n".join([rf"\begin{{{kind}}}\centering", *titled, tabular(table), *notes, rf"\end{{{kind}}}", ""])


def tabular(table: Table) -> str:
    """A tabular with a rule between the blocks of rows, no wider than the line."""
    lines = [SMALL, FITTING, rf"\begin{{tabular}}{{{''.join(column.align for column in table.columns)}}}", r"\toprule"]
    lines += _grouped(table.columns) if any(column.group for column in table.columns) else []
    lines.append(_row([heading(one) for one in table.columns]))
    for block in filter(None, (*table.blocks, table.foot)):
        lines += [r"\midrule", *(_row(["".join(map(_latex_span, spans(cell))) for cell in row]) for row in block)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}\par}"])


def heading(column: Column) -> str:
    """A heading, in several lines if it is long; they break at spaces and hyphens."""
    if column.name in _VARIABLES:
        return f"${column.name}$"
    lines = _lines(column.name)
    if len(lines) == 1:
        return latex_escaped(column.name)
    broken = r" \\ ".join(latex_escaped(line.strip()) for line in lines)
    return rf"\shortstack[{column.align}]{{{broken}}}"


def _lines(name: str) -> list[str]:
    lines = [""]
    for piece in re.findall(r"[^\s-]+-?\s*|\s+|-", name):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > HEADING:
            lines.append("")
        lines[-1] += piece
    return lines


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _grouped(columns: list[Column]) -> list[str]:
    """The line of headings that columns share, and the rules below them."""
    cells, rules, place = [], [], 1
    for group, members in groupby(columns, key=lambda column: column.group):
        size = len(list(members))
        cells.append(rf"\multicolumn{{{size}}}{{c}}{{{latex_escaped(group)}}}" if group else " & " * (size - 1))
        rules += [rf"\cmidrule(lr){{{place}-{place + size - 1}}}"] if group else []
        place += size
    return [_row(cells), " ".join(rules)]


def _latex_span(span: Span) -> str:
    looks = {"raised": "$^{{{}}}$", "strong": r"\textbf{{{}}}"}
    # a spread between seeds is printed smaller than its mean
    shown = re.sub(r" \$\\pm\$ ([\d.]+)", r"{\\tiny\\,$\\pm$\\,\1}", latex_escaped(span.text))
    return looks.get(span.look, "{}").format(shown) if span.text else ""


_START = re.compile(r"^(\s*\d*)(>|[#+.)=-](?=[\s#=-]|$))")  # a quotation, a heading, a list, a rule
_NOT_BOLD = ("", "quiet", "raised")


def markdown_document(title: str, blocks: Sequence[Block]) -> str:
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
            return "" if block.svg else f"![{escape(shows)}]({path})"
        case Folded(title, blocks, link):
            shown = [part for part in blocks if isinstance(part, Figure)] if link else blocks
            title = _inline(Span(title, "" if link else "strong", link))
            return _together(title, *(_block(part, level) for part in shown))
        case Table():
            source = f"Numbers: {_markdown_span(Span(block.source, link=block.source))}" if block.source else ""
            return _together(markdown_table(block), " ".join(filter(None, [escape(block.caption), source])))


def _together(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _line(text: Text) -> str:
    return _START.sub(r"\1\\\2", _inline(text))


def _inline(text: Text | Cell) -> str:
    return "".join(map(_markdown_span, spans(text)))


def _markdown_span(span: Span) -> str:
    shown = escape(span.text) if span.look in _NOT_BOLD or not span.text else f"**{escape(span.text)}**"
    return f"[{shown}]({span.link})" if span.link and not span.link.startswith("#") else shown


def markdown_table(table: Table) -> str:
    """A table alone. Columns are as wide as their widest cell, so that the source reads as a table, too."""
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
    return " ".join(_inline(text).replace("|", "\\|").splitlines())


def write_printed(title: str, blocks: Sequence[Block], page: Path, tex: Path, on_page: Sequence[Block] = ()) -> None:
    """Write the blocks to both files; the page has the title and, at its end, the blocks `on_page`."""
    write_text(page, markdown_document(title, [*blocks, *on_page]))
    write_text(tex, latex_document(tex.stem, blocks))
