"""The example of docs/ranking.md, as one file in a copy of the sources: a new feature is known and computed."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.support.sources import copy_sources

ROOT = Path(__file__).parents[2]
HEAD = """
import numpy as np
from ranktrial.features.families import Matches, of_terms

NAME = "toy"

"""
USE = """
from ranktrial.common.keys import given
import numpy as np
from ranktrial.experiment.resolution import resolve
from ranktrial.features.families import Candidates, Matches, features_in
config = {
    "experiment": "e", "datasets": {"d": {"format": "beir", "location": "."}}, "tasks": ["d"],
    "systems": {"bm25": {"type": "bm25"}}, "features": {"f": {"first_stage": "bm25", "of": ["binary", "binary.title"]}},
}
found = resolve(config, "c.yaml").features["f"].of
feature = features_in(found[0].family)[found[0].feature]
matches = Matches(np.array([0, 0, 2]), *[np.array([1.0, 0.5, 1.0])] * 5, 3, 9)
none = np.zeros(3)
print(given(found[1]), feature.values(Candidates(none.astype(int), none, none, none, [], matches)).tolist())
"""


def test_the_example_of_the_page_is_a_feature(tmp_path):
    page = (ROOT / "docs" / "ranking.md").read_text()
    example = textwrap.dedent(re.search(r"\n\n((?:    [^\n]*\n)+)\n`@of_pairs`", page)[1])
    copy_sources(tmp_path)
    (tmp_path / "ranktrial" / "features" / "families" / "toy.py").write_text(HEAD + example)
    done = subprocess.run([sys.executable, "-c", USE], cwd=tmp_path, capture_output=True, text=True)
    expected = {"name": "binary.title", "family": "toy", "feature": "binary", "field": "title"}
    assert done.stdout == f"{expected} [1.5, 0.0, 1.0]\n", done.stderr
