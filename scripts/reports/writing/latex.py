"""The tables of content in LaTeX with booktabs, for \\input, and any text; reads and writes nothing.

A table that is wider than the line is made smaller by graphicx, whatever the names in it; others keep their size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from scripts.reports.writing.content import Block, Column, Items, Note, Paragraph, Section, Span, Table, plain, spans

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
    """The tables among some blocks, each as a tabular; the texts stand above them as LaTeX comments, for whoever opens
    the file.
    """
    blocks = list(_flat(blocks))
    comments = [f"% {' '.join(line.split())}" for line in (PACKAGES, *(line for one in blocks for line in _texts(one)))]
    tables = [tabular(block) for block in blocks if isinstance(block, Table)]
    return "\n".join([*comments, *tables])


def _flat(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield from _flat(block.blocks) if isinstance(block, Section) else (block,)


def _texts(block: Block) -> list[str]:
    match block:
        case Paragraph(text) | Note(text):
            return [plain(text)]
        case Items(texts):
            return [plain(text) for text in texts]
        case Table():
            return [block.caption] if block.caption else []
    return []


def tabular(table: Table) -> str:
    """A tabular with a rule between the blocks of rows, no wider than the line."""
    lines = [FITTING, rf"\begin{{tabular}}{{{''.join(column.align for column in table.columns)}}}", r"\toprule"]
    lines += _grouped(table.columns) if any(column.group for column in table.columns) else []
    lines.append(_row([f"${one.name}$" if one.name in _VARIABLES else escape(one.name) for one in table.columns]))
    for block in filter(None, (*table.blocks, table.foot)):
        lines += [r"\midrule", *(_row(["".join(map(_span, spans(cell))) for cell in row]) for row in block)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}"]) + "\n"


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
    return looks.get(span.look, "{}").format(escape(span.text)) if span.text else ""
