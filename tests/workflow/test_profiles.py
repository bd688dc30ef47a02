"""The two profiles: what a laptop takes by itself, and what `--profile slurm` adds."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from snakemake.profiles import ProfileConfigFileParser
from snakemake.resources import Resource

REPOSITORY = Path(__file__).parents[2]
PROFILES = REPOSITORY / "profiles"
GPU_RULES = {"tag_texts", "generate_queries", "fine_tune", "encode", "rank", "train_command_on_gpu",
             "run_command_on_gpu"}  # fmt: skip


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
    """Unless the configuration has `device: cpu`, of which rules/start.smk tells the profile."""
    monkeypatch.delenv("RANKTRIAL_DEVICE", raising=False)
    if device:
        monkeypatch.setenv("RANKTRIAL_DEVICE", device)
    needs = resources(parsed(slurm_text, tmp_path))
    assert {rule for rule, need in needs.items() if "gpu_model" in need} == GPU_RULES
    for rule, need in needs.items():
        asked = tuple(evaluated(name, need) for name in ("gpu", "gpu_model", "slurm_partition"))
        of_recipe = (None, *expected[1:]) if rule == "fine_tune" else expected  # of a training its recipe says how many
        assert asked in (of_recipe, (None, None, None))


class Inputs(list):
    """A job's inputs with their names, as Snakemake gives them to an expression: files without content, and folders."""

    size_mb = 0

    def __init__(self, named):
        super().__init__(named.values())
        self.get = named.get


INDEX = "results/e/embeddings/d/m/r/seed-1"
RANKINGS = {
    "a search of vectors": ({"index": f"{INDEX}.vectors"}, (8000, 60)),
    "of codes": ({"index": f"{INDEX}.int8"}, (8000, 60)),
    "of an index of faiss": ({"index": f"{INDEX}.HNSW32", "vectors": f"{INDEX}.vectors"}, (16000, 60)),
    "of terms": ({"index": f"{INDEX}.terms"}, (8000, 240)),
    "of token vectors": ({"index": f"{INDEX}.token-vectors"}, (8000, 240)),
    "candidates": ({"first_stage": "results/e/runs/d/bm25/seed-0.trec.gz"}, (8000, 240)),
    "candidates by vectors": ({"first_stage": "x.trec.gz", "index": f"{INDEX}.vectors"}, (8000, 240)),
    "all pairs": ({}, (8000, 720)),
}


def asked(need, inputs, made="", attempt=1, part=""):
    """The memory and minutes that Slurm is asked for."""
    wildcards = SimpleNamespace(made=made, part=part)
    known = {"wildcards": wildcards, "input": Inputs(inputs), "attempt": attempt, "async_run": None}
    return tuple(Resource.cli_evaluator(name, need[name], **known) for name in ("mem_mb", "runtime"))


@pytest.mark.parametrize("what", RANKINGS)
def test_a_ranking_gets_what_its_way_needs(what, slurm_text, tmp_path):
    inputs, expected = RANKINGS[what]
    need = resources(parsed(slurm_text, tmp_path))["rank"]
    assert asked(need, inputs) == expected
    assert asked(need, inputs, attempt=2) == (2 * expected[0], min(1440, 2 * expected[1]))


def test_a_shard_that_reads_a_part_asks_for_less_and_one_that_reads_all_does_not(slurm_text, tmp_path, monkeypatch):
    monkeypatch.setattr(Inputs, "size_mb", 100_000)
    needs = resources(parsed(slurm_text, tmp_path))

    def memory(rule, **inputs):
        return [asked(needs[rule], inputs, part=part)[0] for part in ("", ".shards/3-of-100")]

    assert memory("encode") == memory("rank", index=f"{INDEX}.vectors") == [208_000, 10_000]
    assert memory("rank", index=f"{INDEX}.int8") == memory("rank", index="i.vectors", first_stage="r") == [208_000] * 2


@pytest.mark.parametrize(
    ("made", "expected"), [("int8", (4000, 60)), ("HNSW32", (16000, 240)), ("IVF4_Flat", (16000, 240))]
)
def test_an_index_of_faiss_gets_more_than_codes(made, expected, slurm_text, tmp_path):
    assert asked(resources(parsed(slurm_text, tmp_path))["make_index"], {}, made) == expected


SITE = {
    "account": "12345", "gpu_account": "gpus", "cpu_partition": "standard", "gpu_partition": "a100-long",
    "gpu_model": '""', "gpus_by": "gres", "cpus_per_gpu": "8", "longest": "100", "longest_gpu": "400",
    "largest": "9000", "qos": "paper", "constraint": "avx512", "extra": '"--reservation=r --exclude=c1"',
    "scratch": "/scratch",
}  # fmt: skip


def of_site(text):
    """The profile with this block; each of its variables is stated once."""
    for name, value in SITE.items():
        text, count = re.subn(rf"(?m)^  {name}: (?:\"\"|\S+)", lambda _, n=name, v=value: f"  {n}: {v}", text)
        assert count == 1, name
    return text


def test_the_block_has_exactly_the_variables_that_sites_need(slurm_text):
    assert set(yaml.safe_load(slurm_text.split("# Software")[0])["__variables__"]) == set(SITE)


def test_the_block_for_sites_reaches_every_rule(slurm_text, tmp_path, monkeypatch):
    monkeypatch.delenv("RANKTRIAL_DEVICE", raising=False)
    profile = parsed(of_site(slurm_text), tmp_path)
    assert {
        "slurm_account='12345'", "slurm_partition='standard'", "qos='paper'", "constraint='avx512'",
        "slurm_extra='--reservation=r --exclude=c1'", "tmpdir='/scratch'",
    } <= set(profile["default-resources"])  # fmt: skip
    needs = resources(profile)
    for rule, need in needs.items():
        gpu = rule in GPU_RULES
        by_rule = (evaluated(name, need) for name in ("slurm_partition", "slurm_account", "gpus_by", "cpus_per_gpu"))
        assert tuple(by_rule) == (("a100-long", "gpus", "gres", 8) if gpu else (None,) * 4), rule
        memory, minutes = asked(need, {}, attempt=9)
        assert memory == 9000 and minutes == (400 if gpu else 100), rule
        extra = evaluated("slurm_extra", need)
        assert extra == ("--signal=B:URG@120 --reservation=r --exclude=c1" if rule == "fine_tune" else None)
        assert not {"qos", "constraint"} & need.keys()  # those of all jobs
    needs = needs["fine_tune"]
    assert "gpu_model" not in needs
    monkeypatch.setenv("RANKTRIAL_DEVICE", "cpu")
    assert evaluated("slurm_partition", needs) == "standard" and evaluated("slurm_account", needs) == "12345"
    assert asked(needs, {}) == (9000, 100)


def test_a_rule_without_an_entry_gets_memory_that_grows_with_its_input(slurm_text, tmp_path):
    default = dict(one.split("=", 1) for one in parsed(slurm_text, tmp_path)["default-resources"])
    inputs = Inputs({})
    for size, attempt, expected in ((0, 1, 2000), (3000, 1, 8000), (3000, 2, 16000)):
        inputs.size_mb = size
        known = {"wildcards": None, "input": inputs, "attempt": attempt, "async_run": None}
        assert Resource.cli_evaluator("mem_mb", default["mem_mb"], **known) == expected


def functions(files):
    return {name for path in files for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)}


def test_each_fault_of_the_page_is_a_test_and_each_test_of_a_fault_is_on_the_page():
    """Rows of the first table are tests on Slurm; those of the second, of any machine, have tests anywhere."""
    page = (REPOSITORY / "docs" / "cluster.md").read_text()
    of_slurm, of_any = page.partition("\n## Faults\n")[2].partition("\nDetails:\n")[0].split("\nOn any machine")
    on_slurm = [
        path for path in (REPOSITORY / "tests/cluster").glob("test_*.py") if "pytest.mark.cluster" in path.read_text()
    ]
    known = {of_slurm: functions(on_slurm), of_any: functions((REPOSITORY / "tests").rglob("test_*.py"))}
    for table, tests in known.items():
        rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
        named = [re.findall(r"\btest_\w+", re.search("<!--(.*)-->", row)[1]) for row in rows]
        assert len(rows) > 3 and all(one and tests.issuperset(one) for one in named)
    faults = functions(path for path in on_slurm if path.stem not in ("test_run", "test_soak", "test_deployed"))
    assert faults - set(re.findall(r"\btest_\w+", page)) == set()
