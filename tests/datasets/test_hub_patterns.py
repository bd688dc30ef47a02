"""Patterns of files in a hub card, against those of the library that reads such cards."""

from pathlib import Path

import pytest
from datasets.data_files import resolve_pattern

from ranktrial.datasets.formats._hub_files import matches

FILES = ("top.parquet", "corpus/a.parquet", "corpus/deep/b.parquet", "corpus/deep/er/c.parquet", "queries/a.jsonl")
PATTERNS = (
    "*", "*.parquet", "**", "**/*", "**/*.parquet", "*/*.parquet", "corpus/*", "corpus/**", "corpus/**/*.parquet",
    "corpus/[ad]*", "corpus/?eep/*", "corpus/deep/**", "**/deep/*", "**/b.parquet", "corpus/a.parquet", "queries/*",
    "corpus/**/er/*", "none/*", "corpus", "**/corpus/*",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_the_files_that_the_library_finds(tmp_path, pattern):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    try:
        found = {str(Path(path).relative_to(tmp_path)) for path in resolve_pattern(pattern, str(tmp_path))}
    except FileNotFoundError:
        found = set()
    assert {name for name in FILES if matches(name, pattern)} == found


def test_a_long_pattern_of_folders_takes_no_longer(tmp_path):
    assert matches("a/" * 200 + "b", "**/" * 300 + "b") and not matches("a/" * 200 + "b", "**/" * 300 + "c")
