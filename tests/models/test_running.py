"""What models run on: the libraries are imported once, and the garbage collector left as it was."""

import subprocess
import sys
from pathlib import Path

CODE = """
import gc
from ranktrial.models.running import import_library
import_library()
frozen = gc.get_freeze_count()
assert gc.isenabled() and frozen > 100_000, frozen
kept = [[] for _ in range(1000)]
import_library()
assert gc.get_freeze_count() == frozen
import sys
assert not {"sklearn", "scipy.stats"} & set(sys.modules), "a fifth of the start of each job"
from sentence_transformers.util import pairwise_manhattan_sim, manhattan_sim
import numpy, torch
rows = torch.tensor([[1.0, 2.0], [4.0, 6.0]])
expected = torch.tensor([[0.0, -7.0], [-7.0, 0.0]])
assert torch.equal(manhattan_sim(rows, rows), expected)
sparse = rows.to_sparse()
assert numpy.allclose(manhattan_sim(sparse, sparse), expected)
import sklearn.metrics
assert sklearn.metrics.accuracy_score([1, 0], [1, 1]) == 0.5
"""


def test_the_garbage_collector_looks_at_no_library_and_scikit_learn_is_loaded_where_it_is_needed_first():
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", CODE], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
