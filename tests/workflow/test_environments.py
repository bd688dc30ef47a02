"""The extra of each rule, whose environment it names, holds every package that its script imports; envs/ follows the lock."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ranktrial.common import job_code
from ranktrial.common.extras import OF_MODULE
from tests.support import environments
from tests.workflow.test_structure import RULES

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
        *("selection/jobs.py", "evaluation/tables.py", "reports/costs.py", "synthesis/tables.py"),
        *("synthesis/transfer.py", "reports/datasets_table.py", "explorer/jobs.py"),
    ],
    "page": ["reports/tables.py"],
    "full_table": ["reports/tables.py", "reports/costs.py"],
    "answer": ["reports/tables.py", "reports/judge_tables.py"],
    "figure": ["reports/figure.py"],
}
# Imported only where the job has imported another package before.
BESIDE = {"pynvml": "torch"}
BROUGHT = {("neural", "sklearn")}  # by sentence-transformers


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
    """(rule, script, extra, whether it runs a model) of each rule that names an environment."""
    blocks = {name: block for _, name, block in RULES}
    for name, block in blocks.items():
        extra = extra_of(name, blocks)
        script = re.search(r'"([\w/]+\.py)(?::\w+)?"', block)
        if extra:
            for run in scripts_at(*SCRIPTS[name]) if name in SCRIPTS else [script[1]] if script else []:
                yield name, run, extra, "code_of_model" in block


def extra_of(name: str, blocks: dict[str, str]) -> str | None:
    """The extra whose environment a rule names or inherits: those of rules/jobs.smk are called by theirs."""
    if name.startswith("in_"):
        return name.removeprefix("in_").replace("_", "-")
    own, base = re.search(r'envs/([\w-]+)\.yaml"', blocks[name]), re.match(r"use rule (\w+) as", blocks[name])
    return own[1] if own else extra_of(base[1], blocks) if base else None


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


def lacking(rule: str, script: str, extra: str, of_a_model: bool) -> Iterator[str]:
    """What an extra lacks of what a rule's script imports; tests/api/test_package.py knows the modules of all extras."""
    imported = {module: third_party(module) for module in job_code.behind(script, *loaded(script, of_a_model))}
    unused = {name for name, other in BESIDE.items() if not any(other in names for names in imported.values())}
    for module, names in imported.items():
        for name in names - unused:
            if OF_MODULE.get(name, "workflow") not in ("workflow", "datasets", extra) and (extra, name) not in BROUGHT:
                yield f"the extra {extra} lacks {name}, which {module} imports in the rule {rule}"


def test_the_extra_of_a_rule_holds_what_its_script_imports():
    assert [problem for job in JOBS for problem in lacking(*job)] == []
    assert {extra for _, _, extra, _ in JOBS} == set(environments.OF_JOBS)


@pytest.mark.parametrize("extra", environments.OF_JOBS)
def test_the_conda_environment_of_an_extra_follows_from_the_lock(extra):
    assert (REPOSITORY / f"envs/{extra}.yaml").read_text() == environments.text(extra), "make lock"
    assert {path.stem for path in (REPOSITORY / "envs").glob("*.yaml")} == set(environments.OF_JOBS)


def test_the_image_has_the_extras_of_make_setup():
    recipe = (REPOSITORY / "envs/apptainer.def").read_text()
    (extras,) = re.findall(r'EXTRAS="(.+)"', recipe)
    assert f"\nALL = {extras}\n" in (REPOSITORY / "Makefile").read_text()
    for file in ("Makefile", "pyproject.toml", "requirements.lock"):  # all that `make packages` reads
        assert re.search(rf"^    {file} /opt/ranktrial/{file}$", recipe, re.MULTILINE)
