"""The section of comparison.md on how well archive B reproduces archive A."""

from __future__ import annotations

from collections.abc import Iterable

from ranktrial.archive.checking.repeated import Repeated


def reproduced(repeated: Repeated, shown: int) -> list[str]:
    """Its lines: the first `shown` rankings and scores that differ, and all effects."""
    rankings = [row for row in repeated.rankings if row.rank_biased_overlap != 1]
    scores = [row for row in repeated.scores if row.root_mean_square_error]
    return [
        f"{len(repeated.rankings)} runs are in both archives; {len(rankings)} of them rank differently"
        f"{_where(rankings, shown, 'rankings')}.",
        *_table(
            ("task", "system", "seed", "Kendall's tau union", "rank-biased overlap"),
            (
                (row.task, row.system, row.seed, number(row.kendalls_tau_union), number(row.rank_biased_overlap))
                for row in rankings[:shown]
            ),
        ),
        f"Of {len(repeated.scores)} means of a measure, {len(scores)} have another value for some query"
        f"{_where(scores, shown, 'scores')}.",
        *_table(
            ("task", "system", "seed", "measure", "A", "B", "RMSE over queries"),
            (
                (row.task, row.system, row.seed, row.measure, *map(number, (row.a, row.b, row.root_mean_square_error)))
                for row in scores[:shown]
            ),
        ),
        "Effect ratio: B's improvement of treatment over control in shares of A's (1: as large). Delta relative "
        "improvement: A's relative improvement minus B's (0: the same).",
        *_table(
            ("comparison", "task", "measure", "effect ratio", "delta relative improvement"),
            (
                (
                    row.comparison,
                    row.task,
                    row.measure,
                    number(row.effect_ratio),
                    number(row.delta_relative_improvement),
                )
                for row in repeated.effects
            ),
        ),
    ]


def _table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """The lines of a table between empty lines; one empty line if it has no row."""
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return ["", f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}", *lines, ""] if lines else [""]


def _where(rows: list, shown: int, table: str) -> str:
    return f" (the first {shown} below, all in {table}.tsv)" if len(rows) > shown else ""


def number(value: float | None) -> str:
    """Four decimals; empty if there is no value."""
    return "" if value is None else f"{value:.4f}"


def cell(text: str) -> str:
    """Text of an archive as a cell of a table: 80 printable characters without markup."""
    text = "".join(character if character.isprintable() else " " for character in text[:80])
    return text.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
