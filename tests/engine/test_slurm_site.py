"""Time limits of sinfo beside those that jobs ask for, and options that replace a profile's entries."""

import pytest

from ranktrial.engine.slurm_site import limits_of_partitions, minutes, replaced, too_long


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("30:00", 30), ("1:00:00", 60), ("2-00:00:00", 2880), ("1-12:30:30", 36 * 60 + 30.5), ("infinite", None), ("n/a", None)],
)  # fmt: skip
def test_a_time_limit_is_read_in_each_form_of_sinfo(limit, expected):
    assert minutes(limit) == expected


def test_more_time_than_each_partition_has_is_one_warning_for_the_worst_rule():
    limits = limits_of_partitions("cpu*|1:00:00\nlong|infinite\nProject lab: 1500 hours left\ngpu|10:00\n")
    assert limits == {"cpu": 60, "gpu": 10}
    asked = [("score", "cpu", 60), ("search", "cpu", 61), ("tune", "cpu", 90), ("join", "cpu,long", 90), ("x", "no", 9)]
    (warning,) = too_long(asked, limits)
    assert warning.startswith("tune asks for up to 90 minutes on partition cpu, whose limit is 60 (sinfo)")
    assert too_long([("encode", "cpu,gpu", 60)], limits) == []


@pytest.mark.parametrize("word", ["--set-resources", "--set-resources=fine_tune:mem_mb=32000", "--default-resources"])
def test_an_option_that_replaces_an_entry_of_the_profile_is_named(word):
    (warning,) = replaced(["snakemake", word, "fine_tune:mem_mb=32000"])
    assert warning.startswith(f"{word.partition('=')[0]} on the command line replaces the profile's entry")
    assert replaced(["snakemake", "--profile", "slurm"]) == []
