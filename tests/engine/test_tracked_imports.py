"""What a script loads decides whether its job runs again: nothing is imported in a way that code() would not follow."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sources import PACKAGES, our_sources

REPOSITORY = Path(__file__).parents[2]
FILES = our_sources()
# Those that may load code by other ways than `from scripts.room.module import name`, and why.
EXCUSED = {
    "ranktrial/__init__.py": "loads the functions of ranktrial/api for programs; a job's modules name where they import from",
    "ranktrial/api/__init__.py": "loads each of its functions when a program uses it; no job does",
    "ranktrial/api/command.py": "starts a script in place of a user's command; no job does",
    "scripts/command/runner.py": "loads the class of a user's ranker, whose files are inputs of the job (`code`)",
    "ranktrial/common/plugins.py": "loads a plug-in by its name; the rule gives its file to code(), beside the script",
    "scripts/engine/launch.py": "starts Snakemake itself, so no job's output depends on it",
    "scripts/archive/rerun.py": "runs scripts on the content of an archive, outside of any job",
}
LOADERS = {"exec", "eval", "compile", "__import__"}
LOADING_MODULES = ("importlib", "imp", "runpy", "pkgutil", "zipimport")
# They read versions and files, or look whether a package is there, and load no code.
HARMLESS = ("importlib.metadata", "importlib.resources", "importlib.util.find_spec", "importlib.invalidate_caches")


def untracked(source: str) -> Iterator[str]:
    """What a module does to load code of ours that a look at its `from scripts.… import …` does not tell."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                yield f"line {node.lineno}: a relative import"
            elif node.module in PACKAGES or (_ours(node.module or "") and _star(node)):
                yield f"line {node.lineno}: from {node.module} import {node.names[0].name}"
            elif _loads(node.module or "") and not all(f"{node.module}.{a.name}" in HARMLESS for a in node.names):
                yield f"line {node.lineno}: from {node.module}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if _ours(alias.name) or _loads(alias.name):
                    yield f"line {node.lineno}: import {alias.name}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LOADERS:
            yield f"line {node.lineno}: {node.func.id}()"
        elif isinstance(node, ast.Attribute) and node.attr in ("import_module", "exec_module"):
            yield f"line {node.lineno}: {node.attr}"
        elif isinstance(node, ast.Assign | ast.AugAssign) and "sys.path" in ast.unparse(node):
            yield f"line {node.lineno}: sys.path is changed"


def _ours(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES


def _star(node: ast.ImportFrom) -> bool:
    return node.names[0].name == "*"


def _loads(module: str) -> bool:
    return module.partition(".")[0] in LOADING_MODULES and not module.startswith(HARMLESS)


def test_scripts_import_in_a_way_that_reruns_notice():
    found = {str(path.relative_to(REPOSITORY)): list(untracked(path.read_text())) for path in FILES}
    assert len(found) > 100
    assert {name: problems for name, problems in found.items() if problems and name not in EXCUSED} == {}


def test_no_excuse_is_left_over():
    assert set(EXCUSED) <= {str(path.relative_to(REPOSITORY)) for path in FILES}


@pytest.mark.parametrize(
    "source",
    [
        "import ranktrial.common.files",
        "import ranktrial.common.files as files",
        "from scripts import common",
        "from ranktrial.common.files import *",
        "from . import files",
        "from .files import lines",
        "import importlib",
        "import importlib.util",
        "from importlib import import_module",
        "def read():\n    import runpy",
        "exec(open('ranktrial/common/files.py').read())",
        "__import__('ranktrial.common.files')",
        "import sys\nsys.path += ['ranktrial/common']",
    ],
)
def test_each_other_way_to_import_is_found(source):
    assert list(untracked(source))


@pytest.mark.parametrize(
    "source",
    [
        "from ranktrial.common.files import lines",
        "from ranktrial.common import files",
        "import importlib.metadata",
        "from importlib.resources import files",
        "def read():\n    from ranktrial.common.files import lines",
        "import re\npattern = re.compile('a')",
    ],
)
def test_the_ways_that_are_followed_are_left_alone(source):
    assert not list(untracked(source))
