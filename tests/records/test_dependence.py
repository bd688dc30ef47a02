"""How effects depend on one another, as a meta record keeps it."""

import json
from dataclasses import replace

import numpy as np

from ranktrial.common.keys import given
from ranktrial.common.settings import read_settings
from ranktrial.records.comparison import DependenceRecord, as_record, from_record
from ranktrial.statistics.dependence import Dependence
from tests.statistics.test_dependent_moderators import BY_NAME, dependence_of, seed_effect


def test_what_a_meta_record_keeps_is_the_same_dependence():
    case = BY_NAME["corpora"]
    dependence = replace(dependence_of(case), seed_effects=(seed_effect(8, 0.0004, 0.0001),))
    kept = from_record(read_settings(DependenceRecord, json.loads(json.dumps(given(as_record(dependence)))), "kept"))
    assert (kept.sampling == dependence.sampling).all() and kept.degrees == dependence.degrees
    assert kept.collections == dependence.collections
    assert kept.seed_effects[0].source.name == "t" and (kept.covariance == dependence.covariance).all()
    assert as_record(None) is None and from_record(None) is None
    independent = Dependence(np.diag([1.0, 2.0]), (9.0, 9.0), (0, 1))
    assert as_record(independent) is None
