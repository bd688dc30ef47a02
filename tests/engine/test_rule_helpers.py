"""What rules are written with: constraints, inputs as options, settings as text, paths in a clone and from elsewhere."""

import json
import re

import pytest
from snakemake.iocontainers import InputFiles

from ranktrial.engine.rule_helpers import (
    log_of,
    message_of,
    newer_than_tested,
    one_of,
    options,
    settings,
)


def test_a_constraint_allows_its_names_alone():
    assert [bool(re.fullmatch(one_of(["a.b", "c+d"]), name)) for name in ("a.b", "c+d", "axb", "")] == [1, 1, 0, 0]
    assert not re.fullmatch(one_of([]), "")


def test_inputs_become_options_with_their_paths_as_they_are():
    named = InputFiles(fromdict={"first_stage": "runs/a b's.gz", "runs": ["x", "$y"], "scores": []})
    expected = ["--first-stage", "runs/a b's.gz", "--runs", "x", "$y", "--scores"]
    assert options(named) == expected


def test_the_order_of_values_is_no_change():
    assert settings(b=1, a={"y": 1, "x": 2}) == settings(a={"x": 2, "y": 1}, b=1) == '{"a": {"x": 2, "y": 1}, "b": 1}'


@pytest.mark.parametrize("text", ["{dataset}", "{{}}", 'say "{x}"', "back\\slash {", "}{", "é 水 {ü}", "\\u007b", ""])
def test_texts_come_back_as_they_were_and_hold_no_braces(text):
    spelt = settings(label=text, **{"key {}": [text]})
    assert json.loads(spelt) == {"label": text, "key {}": [text]}
    assert spelt.count("{") == spelt.count("}") == 1


@pytest.mark.parametrize("version", ["9.27.0", "9.27.14", "9.9.0", "8.30.1", "unknown"])
def test_older_and_tested_versions_are_no_warning(version):
    assert newer_than_tested(version) is None


@pytest.mark.parametrize("version", ["9.28.0", "9.100.1", "10.0.0", "10.0.0rc1"])
def test_newer_versions_are_named(version):
    assert newer_than_tested(version).startswith(f"Snakemake {version} is newer than 9.27")


@pytest.mark.parametrize(
    ("rule", "output", "log"),
    [
        (
            "score",
            r"results/e/metrics/{task,[^/]+}/{system}/seed-{seed,[0-9]{1,2}}.tsv",
            "score/{task}/{system}/seed-{seed}",
        ),
        ("encode", "results/e/embeddings/{dataset}{part}/seed-1.{form}.json", "encode/{dataset}{part}/seed-1.{form}"),
        ("report", "results/e/report.html", "report"),
        ("fetch", "results/downloads/{download}", "fetch/{download}"),
    ],
)
def test_a_log_is_named_after_its_rule_and_the_wildcards_of_its_output(rule, output, log):
    assert log_of(rule, output, "results/e") == f"results/e/logs/{log}.log"


def test_a_job_is_announced_by_the_path_of_its_log_without_constraints():
    log = r"results/tiny/logs/score/{task,[^/]+}/seed-{seed,[0-9]{1,2}}.log"
    assert message_of(log) == "score {wildcards.task} seed-{wildcards.seed}"
