"""A small experiment by hand: term counts, feature files of train, dev and test, and dev judgements."""

import numpy as np
import pytest

from ranktrial.ir.feature_file import Features, writing
from ranktrial.ir.trec import write_qrels
from tests.support.term_counts import write_term_counts

FEATURES = ["noise", "signal"]


def write_features(path, terms, seed=1, queries=12, grades=None, names=FEATURES, digest=None, value=None):
    """A feature file of 6 candidates per query; the one whose signal is highest is relevant."""
    draw = np.random.default_rng(seed)
    with writing(path, names) as writer:
        for number in range(queries):
            values = draw.normal(size=(6, len(names)))
            best = int(values[:, 1].argmax())
            own = [int(place == best) or None for place in range(6)] if grades is None else grades
            if value is not None:
                values[0, 0] = value
            writer.add(Features([f"q{number}"] * 6, [f"d{place}" for place in range(6)], own, values))
        digest = digest or terms.digest()
        indices = {"together": {"sha256": digest}}
        writer.close({"features": [{"name": name} for name in names], "indices": indices})
    return path


def write_judgements(path, features_seed=2, queries=12):
    """The judgements of the relevant candidates of `write_features`."""
    draw = np.random.default_rng(features_seed)
    best = [int(draw.normal(size=(6, 2))[:, 1].argmax()) for _ in range(queries)]
    write_qrels(path, {f"q{number}": {f"d{place}": 1} for number, place in enumerate(best)})
    return path


@pytest.fixture
def place(tmp_path):
    terms = write_term_counts(tmp_path / "terms", {f"d{place}": ["word"] for place in range(6)})
    for seed, split in enumerate(("train", "dev", "test"), 1):
        write_features(tmp_path / f"{split}.parquet", terms, seed)
    write_judgements(tmp_path / "dev.qrels")
    return tmp_path
