"""What rules are written with: constraints that allow what they name alone, and inputs as options."""

import re

from snakemake.iocontainers import InputFiles

from ranktrial.engine.rule_helpers import one_of, options


def test_a_constraint_allows_its_names_alone():
    assert [bool(re.fullmatch(one_of(["a.b", "c+d"]), name)) for name in ("a.b", "c+d", "axb", "")] == [1, 1, 0, 0]
    assert not re.fullmatch(one_of([]), "")


def test_inputs_become_options_with_their_paths_as_they_are():
    named = InputFiles(fromdict={"first_stage": "runs/a b's.gz", "runs": ["x", "$y"], "scores": []})
    expected = ["--first-stage", "runs/a b's.gz", "--runs", "x", "$y", "--scores"]
    assert options(named) == expected
