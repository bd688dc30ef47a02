"""What the explorer leaves out for its size: depth, then systems, then queries; texts shorter, then fewer."""

import numpy as np
import pytest

from ranktrial.explorer.rankings import (
    BYTES_PER_LINE,
    LENGTHS,
    RankingLimits,
    Size,
    TextLimits,
    ranking_limits,
    remarks,
    share,
    text_bytes,
    text_limits,
)

SIZE = Size(queries=100, runs=50, compared_runs=4)


@pytest.mark.parametrize(
    "lines, expected",
    [
        (100 * 50 * 200, RankingLimits(100, 100, True)),
        (100 * 50 * 42, RankingLimits(42, 100, True)),
        (100 * 50 * 10, RankingLimits(10, 100, True)),
        (100 * 50 * 9, RankingLimits(100, 100, False)),
        (100 * 4 * 30, RankingLimits(30, 100, False)),
        (25 * 4 * 10, RankingLimits(10, 25, False)),
    ],
)
def test_rankings_become_shorter_then_fewer(lines, expected):
    assert ranking_limits(SIZE, 100, lines * BYTES_PER_LINE) == expected


def test_a_configured_depth_is_kept_where_there_is_room():
    assert ranking_limits(SIZE, 5, 100 * 50 * 5 * BYTES_PER_LINE) == RankingLimits(5, 100, True)


def test_texts_become_shorter_then_fewer():
    best, characters = np.array([1, 2, 3, 8, 20]), np.full(5, 3000)
    found = [
        text_limits(best, characters, 20, text_bytes(best, characters, *step))
        for step in ((2000, 20), (500, 20), (120, 5), (120, 1))
    ]
    assert found == [TextLimits(2000, 20), TextLimits(500, 20), TextLimits(120, 5), TextLimits(120, 1)]
    assert text_limits(best, characters, 20, 0) == TextLimits(0, 0)


def test_tasks_share_by_queries():
    assert share(200, 50, 200) == 50e6


def test_what_is_left_out_is_said():
    assert remarks(SIZE, RankingLimits(100, 100, True), TextLimits(2000, 100), 0, 100) == [
        f"Texts are cut after {LENGTHS[0]:,} characters."
    ]
    said = remarks(SIZE, RankingLimits(10, 25, False), TextLimits(250, 3), 1234, 100)
    assert said == [
        "Rankings show the first 10 of up to 100 documents.",
        "Only the systems of comparisons have rankings.",
        "25 of 100 queries have rankings: those on which the compared systems differ most.",
        "1,234 documents that no ranking has among its first 3 have no text here.",
        "Texts are cut after 250 characters.",
    ]
    assert remarks(SIZE, RankingLimits(100, 100, True), None, 0, 100)[-1].startswith("Texts are not shown")
