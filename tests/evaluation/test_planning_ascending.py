"""Which runs are scored once more with the other order of ties, for a published table that has it."""

import pytest
import yaml

from scripts.evaluation import planning
from scripts.evaluation.tables import means
from tests.experiment.test_config import resolved

MAPPING = {
    "tasks": {"printed": "d"},
    "measures": {"nDCG": {"at": "nDCG", "all": "nDCG", "ties": "ascending"}, "R": {"all": "R@9", "ties": "ascending"},
                 "MAP": {"at": "AP"}},
    "systems": [{"system": "Lucene", "ours": ["bm25", "absent"]}],
}  # fmt: skip


@pytest.fixture
def experiment(tmp_path):
    def make(**parts):
        (tmp_path / "m.yaml").write_text(yaml.safe_dump(MAPPING | parts))
        (tmp_path / "c.tsv").touch()
        published = {"file": str(tmp_path / "c.tsv"), "mapping": str(tmp_path / "m.yaml"), "part": True}
        measures = ["nDCG@10", "nDCG", "AP@5", "R@9", "R@10"]
        return resolved({"published": published, "measures": measures, "tasks": ["d", "d/dev"]})

    return make


def test_measures_and_runs_of_cells_with_ascending_ties_are_scored_again(experiment):
    asked = experiment()
    assert planning.ascending_measures(asked) == ["nDCG@10", "nDCG", "R@9"]
    assert planning.ascending_metrics(asked) == ["results/e/metrics-ties-ascending/d/bm25/seed-0.tsv"]


def test_nothing_is_scored_again_without_such_cells(experiment):
    for asked in (experiment(measures={"MAP": {"at": "AP"}}), resolved({})):
        assert planning.ascending_measures(asked) == planning.ascending_metrics(asked) == []


def test_their_means_are_made_as_the_others(tmp_path):
    file = tmp_path / "metrics-ties-ascending/d/bm25/seed-0.tsv"
    file.parent.mkdir(parents=True)
    file.write_text("query_id\tnDCG\na\t0.5\nb\t1.0\n")
    assert means([file]).to_dict("records") == [
        {"task": "d", "system": "bm25", "queries": 2, "seeds": 1, "nDCG": 0.75, "nDCG sd": None}
    ]
