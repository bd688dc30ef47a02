"""The tables of content in LaTeX with booktabs, for \\input, and any text; reads and writes nothing.

Tables are set small and close, with long headings in several lines, so that they fit a column. A table that is wider
than the line even so is made smaller by graphicx, whatever the names in it. A table's caption, which names the measure,
is printed above it, lists (what marks mean) below it; sentences stand above all as comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from ranktrial.reports.writing.content import Block, Column, Items, Note, Paragraph, Section, Span, Table, plain, spans

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
SMALL = r"{\footnotesize\setlength{\tabcolsep}{3pt}%"
CAPTION = r"{\footnotesize\noindent\sloppy %s\par}\nopagebreak\smallskip"
FITTING = r"\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_VARIABLES = ("n", "k", "p")  # headings that are mathematics
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def escape(text: str) -> str:
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


def document(blocks: Sequence[Block]) -> str:
    """The tables among some blocks, each as a tabular below its caption and above the lists of its section; other texts
    stand above them as LaTeX comments, for whoever opens the file.
    """
    comments = [f"% {' '.join(line.split())}" for line in (PACKAGES, *_comments(blocks))]
    return "\n".join([*comments, *_printed(blocks)])


def _comments(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Section():
                yield from _comments(block.blocks)
            case Paragraph(text) | Note(text):
                yield plain(text)


def _printed(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Section():
                yield from _printed(block.blocks)
            case Table():
                yield from [CAPTION % escape(block.caption)] if block.caption else []
                yield tabular(block)
            case Items(texts):
                said = " ".join(escape(plain(text)) for text in texts)
                yield rf"{{\scriptsize\noindent\sloppy {said}\par}}\medskip"


def tabular(table: Table) -> str:
    """A tabular with a rule between the blocks of rows, no wider than the line."""
    lines = [SMALL, FITTING, rf"\begin{{tabular}}{{{''.join(column.align for column in table.columns)}}}", r"\toprule"]
    lines += _grouped(table.columns) if any(column.group for column in table.columns) else []
    lines.append(_row([heading(one) for one in table.columns]))
    for block in filter(None, (*table.blocks, table.foot)):
        lines += [r"\midrule", *(_row(["".join(map(_span, spans(cell))) for cell in row]) for row in block)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}\par}"]) + "\n"


def heading(column: Column) -> str:
    """A heading, in several lines if it is long; they break at spaces and hyphens."""
    if column.name in _VARIABLES:
        return f"${column.name}$"
    lines = [""]
    for piece in re.findall(r"[^\s-]+-?\s*|\s+|-", column.name):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > HEADING:
            lines.append("")
        lines[-1] += piece
    if len(lines) == 1:
        return escape(column.name)
    broken = r" \\ ".join(escape(line.strip()) for line in lines)
    return rf"\shortstack[{column.align}]{{{broken}}}"


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _grouped(columns: list[Column]) -> list[str]:
    """The line of headings that columns share, and the rules below them."""
    cells, rules, place = [], [], 1
    for group, members in groupby(columns, key=lambda column: column.group):
        size = len(list(members))
        cells.append(rf"\multicolumn{{{size}}}{{c}}{{{escape(group)}}}" if group else " & " * (size - 1))
        rules += [rf"\cmidrule(lr){{{place}-{place + size - 1}}}"] if group else []
        place += size
    return [_row(cells), " ".join(rules)]


def _span(span: Span) -> str:
    looks = {"raised": "$^{{{}}}$", "strong": r"\textbf{{{}}}"}
    # a spread between seeds is printed smaller than its mean
    shown = re.sub(r" \$\\pm\$ ([\d.]+)", r"{\\tiny\\,$\\pm$\\,\1}", escape(span.text))
    return looks.get(span.look, "{}").format(shown) if span.text else ""
