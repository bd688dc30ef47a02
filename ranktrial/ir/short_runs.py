"""Whether rankings are shorter than measures count; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable

from ranktrial.ir.measure_names import cutoff, parse


def too_short(depth: int, measures: Iterable[str]) -> str:
    """How rankings of at most `depth` documents fall short of the measures, as text; empty if they do not.

    Judged@k counts the documents that are there.
    """
    beyond = [name for name in measures if (cutoff(parse(name)) or 0) > depth and not name.startswith("Judged")]
    few = f"has at most {depth} document{'' if depth == 1 else 's'} per query"
    return f"{few}, fewer than {' or '.join(beyond)} counts" if beyond else ""
