"""Anserini's command line and texts for it: words drawn as often as in a language (Zipf's law)."""

import os
import random
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path

from ranktrial.bm25.lucene import find_java

REPOSITORY = Path(__file__).parents[2]
VOCABULARY, WORDS = 100_000, 30


@cache
def weights() -> list[float]:
    return list(accumulate(1 / (rank + 10) for rank in range(VOCABULARY)))


def texts(count: int, words: int, seed: int) -> Iterator[str]:
    drawn = random.Random(seed)
    for _ in range(count):
        yield " ".join(f"term{number}" for number in drawn.choices(range(VOCABULARY), cum_weights=weights(), k=words))


def documents(count: int) -> Iterator[tuple[str, str]]:
    """Ids and texts of 30 words."""
    return ((f"d{number}", text) for number, text in enumerate(texts(count, WORDS, seed=1)))


def queries(count: int) -> list[tuple[str, str]]:
    """Ids and texts of four words."""
    return [(f"q{number}", text) for number, text in enumerate(texts(count, 4, seed=2))]


def anserini(program: str, *options: object) -> list:
    """The command of a program of the Anserini that Pyserini brings."""
    package = Path(find_spec("pyserini").submodule_search_locations[0])
    (jar,) = package.glob("resources/jars/anserini-*-fatjar.jar")
    return [find_java() / "bin" / "java", "-cp", jar, f"io.anserini.{program}", *options]


def run(command: list) -> str:
    """What a command prints. Raises RuntimeError where it fails."""
    environment = {"PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    return done.stdout + done.stderr
