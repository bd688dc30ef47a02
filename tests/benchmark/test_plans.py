"""Timed plans: how many jobs an experiment has, and what its dry run took."""

import pytest

from tests.benchmark.plans import config, planned, prepare


@pytest.mark.slow
def test_a_plan_is_timed_with_its_jobs(tmp_path):
    workspace = prepare(tmp_path / "plans")
    workspace.write_config(config(1), "one.yaml")
    one = planned(workspace, "one.yaml")
    # a training with its negatives, then ten encodings, searches and scorings a seed
    assert one.jobs > 5 * (1 + 3 * 10) and not one.finished
    assert 0 < one.processor_seconds < 4 * one.seconds
