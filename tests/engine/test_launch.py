"""What the launcher takes away of Snakemake's defaults."""

import pytest

from scripts.engine.launch import without_rate_limit


@pytest.mark.parametrize(("given", "limit"), [([], None), (["--max-jobs-per-timespan", "5/1m"], (5, 60))])
def test_jobs_are_started_as_they_become_ready_unless_a_rate_was_asked_for(given, limit):
    """With a rate, Snakemake looks for jobs once a second for each job that has ended, until it does nothing else."""
    from snakemake import cli

    parser, arguments = cli.parse_args(["--cores", "1", *given])
    assert arguments.max_jobs_per_timespan is not None
    without_rate_limit(parser, arguments)
    now = arguments.max_jobs_per_timespan
    assert (now and (now.max_jobs, now.timespan)) == limit
