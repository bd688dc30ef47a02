"""How effects depend on one another, as a meta record keeps it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from scripts.statistics.dependence.structure import Dependence
from scripts.synthesis.stored_dependence import as_record, dependence_in
from tests.statistics.test_dependent_moderators import BY_NAME, dependence_of, seed_effect


def test_what_a_meta_record_keeps_is_the_same_dependence():
    case = BY_NAME["corpora"]
    dependence = replace(dependence_of(case), seed_effects=(seed_effect(8, 0.0004, 0.0001),))
    kept = dependence_in({"dependence": json.loads(json.dumps(as_record(dependence)))})
    assert (kept.sampling == dependence.sampling).all() and kept.degrees == dependence.degrees
    assert kept.collections == dependence.collections
    assert kept.seed_effects[0].source.name == "t" and (kept.covariance == dependence.covariance).all()
    assert as_record(None) is None and dependence_in({}) is None
    independent = Dependence(np.diag([1.0, 2.0]), (9.0, 9.0), (0, 1))
    assert as_record(independent) is None
