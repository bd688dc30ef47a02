"""Tables in LaTeX with booktabs, for \\input; reads and writes nothing."""

from __future__ import annotations

import re

_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$",
    "\N{MINUS SIGN}": "$-$", "\N{MULTIPLICATION SIGN}": r"$\times$", "→": r"$\rightarrow$", "τ": r"$\tau$",
    "\N{EN DASH}": "--", "\N{NO-BREAK SPACE}": "~", "±": r"$\pm$",
    "χ": r"$\chi$", "≥": r"$\geq$", "≤": r"$\leq$",
}  # fmt: skip
BOOKTABS = "\\usepackage{booktabs}"  # what a table needs, for its comments
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


def aligned(headings: list[str], words: int) -> dict[str, str]:
    """Columns for `tabular`: the first `words` headings are of words, the others of numbers."""
    return {heading: "l" if place < words else "r" for place, heading in enumerate(headings)}


def document(tabulars: list[str]) -> str:
    """Several tables in one file, in the order in which they come."""
    return "\n".join(tabulars)


def tabular(columns: dict[str, str], blocks: list[list[list[str]]], comments: list[str]) -> str:
    """A tabular: `columns` maps a heading to l, c or r; a rule stands between the blocks of rows.

    The comments stand above it as LaTeX comments, for whoever opens the file.
    """
    lines = [f"% {' '.join(comment.splitlines())}" for comment in comments]
    lines += [rf"\begin{{tabular}}{{{''.join(columns.values())}}}", r"\toprule"]
    lines.append(" & ".join(f"${name}$" if name in _VARIABLES else escape(name) for name in columns) + r" \\")
    for block in blocks:
        lines += [r"\midrule", *(" & ".join(escape(cell) for cell in row) + r" \\" for row in block)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
