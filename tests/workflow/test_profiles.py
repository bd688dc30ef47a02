"""The two profiles: what a laptop takes by itself, and what `--profile slurm` adds."""

import re
from pathlib import Path

import pytest
import yaml
from snakemake.profiles import ProfileConfigFileParser
from snakemake.resources import Resource

REPOSITORY = Path(__file__).parents[2]
PROFILES = REPOSITORY / "profiles"
GPU_RULES = {"fine_tune", "encode", "encode_passages", "retrieve", "rerank", "score_all", "score_candidates"}
GPU_RULES |= {"encode_multi_vector", "retrieve_multi_vector", "encode_sparse", "retrieve_sparse", "score_examples"}
GPU_RULES |= {
    f"{rule}_shard" for rule in ("retrieve", "retrieve_multi_vector", "retrieve_sparse", "rerank", "score_all")
}
GPU_RULES |= {"score_candidates_shard", "score_examples_shard", "encode_multi_vector_shard", "encode_sparse_shard"}
GPU_RULES |= {"retrieve_quantised", "retrieve_approximate", "encode_shard", "encode_passages_shard"}


def parsed(text, tmp_path):
    """The profile's keys as Snakemake's own parser gives them."""
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with open(path) as file:
        return dict(ProfileConfigFileParser().parse(file))


@pytest.fixture
def slurm_text():
    return (REPOSITORY / "slurm" / "config.yaml").read_text()  # where `--profile slurm` looks in the repository's root


def resources(profile):
    """Rule -> resource -> value, of a parsed profile."""
    found = {}
    for one in profile["set-resources"]:
        name, value = one.split("=", 1)
        rule, resource = name.split(":")
        found.setdefault(rule, {})[resource] = value
    return found


def test_no_key_stands_in_both_profiles(slurm_text, tmp_path):
    """Snakemake takes a key of the workflow's profile as a whole and would not look at the cluster's."""
    default = yaml.safe_load((PROFILES / "default" / "config.yaml").read_text())
    assert not set(default) & set(parsed(slurm_text, tmp_path))


def test_only_rules_that_exist_have_needs(slurm_text, tmp_path):
    rules = {
        name
        for path in (REPOSITORY / "rules").rglob("*.smk")
        for name in re.findall(r"^(?:use )?rule (?:\w+ as )?(\w+)", path.read_text(), re.MULTILINE)
    }
    assert set(resources(parsed(slurm_text, tmp_path))) <= rules


def evaluated(name, need):
    """A resource's value as Snakemake evaluates it for a job; None where the rule has none."""
    how = {"wildcards": None, "input": None, "attempt": 1, "async_run": None}
    return Resource.cli_evaluator(name, need[name], **how) if name in need else None


@pytest.mark.parametrize(("device", "expected"), [(None, (1, "a100", "gpu")), ("cpu", (0, "", "cpu"))])
def test_gpu_rules_ask_for_one_gpu_of_the_model_on_its_partition(slurm_text, tmp_path, monkeypatch, device, expected):
    """Unless the configuration has `device: cpu`, of which rules/common.smk tells the profile."""
    monkeypatch.delenv("RANKTRIAL_DEVICE", raising=False)
    if device:
        monkeypatch.setenv("RANKTRIAL_DEVICE", device)
    needs = resources(parsed(slurm_text, tmp_path))
    assert {rule for rule, need in needs.items() if "gpu_model" in need} >= GPU_RULES
    for rule, need in needs.items():
        asked = tuple(evaluated(name, need) for name in ("gpu", "gpu_model", "slurm_partition"))
        of_recipe = (None, *expected[1:]) if rule == "fine_tune" else expected  # of a training its recipe says how many
        assert asked in (of_recipe, (None, None, None))


def test_the_block_for_sites_reaches_every_rule(slurm_text, tmp_path, monkeypatch):
    monkeypatch.delenv("RANKTRIAL_DEVICE", raising=False)
    for old, new in {
        'account: ""': "account: 12345",
        "cpu_partition: cpu": "cpu_partition: standard",
        "gpu_partition: gpu": "gpu_partition: a100-long",
        "gpu_model: a100": 'gpu_model: ""',
        "longest: 1440": "longest: 100",
    }.items():
        assert slurm_text.count(old) == 1
        slurm_text = slurm_text.replace(old, new)
    profile = parsed(slurm_text, tmp_path)
    assert {"slurm_account='12345'", "slurm_partition='standard'"} <= set(profile["default-resources"])
    needs = resources(profile)["fine_tune"]
    assert evaluated("slurm_partition", needs) == "a100-long" and "gpu_model" not in needs
    monkeypatch.setenv("RANKTRIAL_DEVICE", "cpu")
    assert evaluated("slurm_partition", needs) == "standard"
    assert [eval(needs["runtime"], {"attempt": n}) for n in (1, 2)] == [100, 100]
    assert [eval(resources(profile)["retrieve"]["runtime"], {"attempt": n}) for n in (1, 2)] == [60, 100]
