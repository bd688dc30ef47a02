"""Which files of scripts/ are the code of a job: all that its script imports, so that a change of one reruns the job."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from ranktrial.common import job_code
from ranktrial.common.job_code import behind
from tests.support.sources import our_sources

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A repository of a few files, by path and text."""

    def written(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        monkeypatch.setattr(job_code, "own_file", tmp_path.joinpath)
        forget()

    yield written
    forget()


def forget():
    for remembered in (job_code.source, job_code.packages, job_code.behind):
        remembered.cache_clear()


def modules(path):
    """The modules behind a script, which is none of them."""
    return [name for name in behind(path.removeprefix("scripts/")) if name != path]


@pytest.mark.parametrize(
    "statement",
    [
        "from scripts.b import c",
        "from scripts.b.c import name",
        "from scripts.b import (\n    c,\n)",
        "import scripts.b.c",
        "import scripts.b.c as c",
        "import os, scripts.b.c",
        "def f():\n    from scripts.b.c import name",
        "if True:\n    import scripts.b.c",
    ],
)
def test_each_way_to_import_a_module_is_seen(sources, statement):
    sources({"scripts/a.py": statement, "scripts/b/c.py": "name = 1"})
    assert modules("scripts/a.py") == ["scripts/b/c.py"]


def test_packages_have_a_file_too_and_what_is_not_ours_has_none(sources):
    sources({"scripts/a.py": "import os\nfrom json import loads\nfrom scripts.b import c\nfrom scripts.gone import x",
             "scripts/b/__init__.py": "x = 1", "scripts/b/c.py": ""})  # fmt: skip
    assert modules("scripts/a.py") == ["scripts/b/__init__.py", "scripts/b/c.py"]


def test_what_runs_with_a_package_counts_with_its_imports(sources):
    sources({"scripts/a.py": "from scripts.b.c import x", "scripts/b/__init__.py": "import scripts.d",
             "scripts/b/c.py": "", "scripts/d.py": "", "scripts/__init__.py": ""})  # fmt: skip
    assert modules("scripts/a.py") == ["scripts/b/__init__.py", "scripts/b/c.py", "scripts/d.py"]
    assert modules("scripts/b/c.py") == ["scripts/b/__init__.py", "scripts/d.py"]


def test_imports_are_followed_also_in_a_circle(sources):
    sources(
        {"scripts/a.py": "import scripts.b", "scripts/b.py": "import scripts.c", "scripts/c.py": "import scripts.b"}
    )
    assert modules("scripts/a.py") == ["scripts/b.py", "scripts/c.py"]


def test_what_a_script_loads_by_name_counts_with_its_imports(sources):
    sources({"scripts/stage/run.py": "import scripts.x", "ranktrial/kinds/one.py": "import scripts.y",
             "ranktrial/kinds/two.py": "", "scripts/x.py": "", "scripts/y.py": ""})  # fmt: skip
    assert modules("scripts/stage/run.py") == ["scripts/x.py"]
    assert behind("stage/run.py", "ranktrial/kinds/one.py") == (
        "ranktrial/kinds/one.py", "scripts/stage/run.py", "scripts/x.py", "scripts/y.py",
    )  # fmt: skip


def test_a_running_script_loads_no_file_that_was_not_seen():
    """Held to what Python itself loads."""
    script = "scripts/synthesis/compare.py"
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, scripts.synthesis.compare\n"
         "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith(('ranktrial.', 'scripts.')) and m.__file__), sep='\\n')"],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    names = {str(Path(path).relative_to(REPOSITORY)) for path in loaded if Path(path).read_text().strip()}
    assert len(names) > 5 and names <= {script, *modules(script)}


def test_no_import_statement_is_passed_over():
    """Only statements are walked through, which is faster than every node."""
    for path in our_sources():
        tree = ast.parse(path.read_text())
        walked = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        found = [node for node in job_code._statements(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert {id(node) for node in found} == {id(node) for node in walked}, path


def test_imports_are_found_at_any_depth(sources):
    sources({
        "scripts/a.py": "try:\n    pass\nexcept ValueError:\n    import scripts.b\nfinally:\n    import scripts.c\n"
        "match 1:\n    case 1:\n        import scripts.d\nclass A:\n    async def f(self):\n"
        "        with self:\n            for _ in ():\n                pass\n            else:\n                import scripts.e\n",
        **{f"scripts/{name}.py": "" for name in "bcde"},
    })  # fmt: skip
    assert modules("scripts/a.py") == [f"scripts/{name}.py" for name in "bcde"]
