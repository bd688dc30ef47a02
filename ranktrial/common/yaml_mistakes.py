"""What is wrong with a text that is not YAML, and the line in which the mistake begins.

PyYAML reports the position at which it stopped. An unclosed quote swallows everything up to the next quote or the end
of the file, and a colon in a text is noticed only after it; so here the position where the quote, text or bracket
begins is found.
"""

from __future__ import annotations

import yaml

from ranktrial.common.characters import shortened

_HINTS = {
    "cannot start any token": "a tab or a character that YAML reserves; indent with spaces, or quote the text",
    "expected <block end>": "indent alike what belongs together, and quote a text that holds signs of YAML",
    "unknown escape character": "a backslash has a meaning in double quotes; use single ones",
    "another document": "expected one document; remove the line ---",
    "undefined alias": "an anchor (&name) stands before its alias (*name); quote a text that begins with *",
}


def mistake_of(error: yaml.MarkedYAMLError, text: str) -> tuple[int | None, str]:
    """The line (from 1; None if unknown) in which a mistake begins, and a description of it."""
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    begins = error.context_mark.line + 1 if error.context_mark else line
    context, problem = error.context or "", error.problem or ""
    noticed = f" (noticed in line {line})" if begins != line else ""
    if "quoted scalar" in context and "end of stream" in problem:
        return begins, "the quote that begins here is not closed"
    if "simple key" in context:
        return begins, f"a key is followed by ': ' and its value{noticed}"
    if "flow" in context and "expected ','" in problem:
        return begins, f"the bracket that begins here is not closed, or a text in it needs quotes{noticed}"
    if mark and (found := _of_scalars(problem, mark, text)):
        return found
    hint = next((hint for words, hint in _HINTS.items() if words in f"{context} {problem}"), "")
    return line, problem + (f" ({hint})" if hint else "")


def _of_scalars(problem: str, mark: yaml.Mark, text: str) -> tuple[int, str] | None:
    """The mistake that the text before its position suggests: a quote closed too late, or a colon."""
    *_, before, last = [None, None, *_scalars_before(text, mark)]
    quoted = next((one for one in (last, before) if one and one.style in ("'", '"') and _lines(one) > 1), None)
    if quoted and quoted.end_mark.line == mark.line:
        where = f"the quote that begins here is closed in line {quoted.end_mark.line + 1} only"
        return quoted.start_mark.line + 1, f"{where}; close it where its text ends"
    if last and "mapping values are not allowed" in problem:
        where = f" in line {mark.line + 1}" if mark.line != last.start_mark.line else ""
        cure = "quote a text that holds ': ', and indent alike what belongs together"
        return (
            last.start_mark.line + 1,
            f"the text {shortened(last.value)} that begins here has ': ' behind it{where}; {cure}",
        )
    if last and last.style in ("'", '"') and "expected <block end>" in problem and last.end_mark.line == mark.line:
        cure = "quote the text as a whole, and write ' twice within single quotes"
        return last.start_mark.line + 1, f"more text follows the quoted {shortened(last.value)}; {cure}"
    return None


def _scalars_before(text: str, mark: yaml.Mark) -> list[yaml.ScalarToken]:
    """The scalars, quoted or not, that end before a position, as far as the scanner gets."""
    scalars = []
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            if token.start_mark.index >= mark.index:
                break
            if isinstance(token, yaml.ScalarToken):
                scalars.append(token)
    except yaml.YAMLError:
        pass  # the scanner stops at the mistake itself
    return scalars


def _lines(token: yaml.ScalarToken) -> int:
    return int(token.end_mark.line - token.start_mark.line + 1)
