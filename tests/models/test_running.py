"""What models run on: the libraries are imported once, and the garbage collector left as it was."""

import subprocess
import sys
from pathlib import Path

CODE = """
import gc
from scripts.models.running import import_library
import_library()
frozen = gc.get_freeze_count()
assert gc.isenabled() and frozen > 100_000, frozen
kept = [[] for _ in range(1000)]
import_library()
assert gc.get_freeze_count() == frozen
"""


def test_the_garbage_collector_looks_at_no_library_and_works_on_afterwards():
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", CODE], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
