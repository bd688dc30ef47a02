"""The package: what importing it loads, what its core needs, and which extra has what is missing."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ranktrial
from ranktrial.common.errors import UserError
from ranktrial.common.extras import EXTRAS, OF_MODULE, names_extras
from tests.support.sources import our_sources

REPOSITORY = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
OPTIONAL = PROJECT["optional-dependencies"]
# Runs a script in a Python that cannot import what the core does not install.
CORE_ALONE = """
import sys
from importlib.abc import MetaPathFinder
class Absent(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
sys.argv = ["ranktrial", *{arguments!r}]
{code}
"""


def named(requirement):
    """The name of a requirement as indices compare it, and its exact version if there is one."""
    name, _, version = requirement.partition("==")
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=~! ;\[]", name)[0]).lower(), version


def required():
    lines = (REPOSITORY / "requirements.in").read_text().splitlines()
    return {named(line)[0] for line in lines if line and not line.startswith("#")}


def test_core_and_extras_are_the_packages_of_the_workflow():
    core = [named(one)[0] for one in PROJECT["dependencies"]]
    extras = [named(one)[0] for name, of in OPTIONAL.items() if name != "docs" for one in of]
    assert len(set(core + extras)) == len(core + extras), "a package in two places"
    assert set(core + extras) == required()
    lines = (REPOSITORY / "docs/requirements.txt").read_text().splitlines()
    assert {named(one)[0] for one in OPTIONAL["docs"]} == {named(line)[0] for line in lines if not line.startswith("#")}


def test_a_missing_module_is_named_with_the_extra_that_has_it():
    """The modules are those that the sources import, each of a package of the extra."""
    of_package = importlib.metadata.packages_distributions()
    for module, extra in OF_MODULE.items():
        packages = {named(one)[0] for one in of_package[module]}
        assert packages & {named(one)[0] for one in OPTIONAL[extra]}, (module, extra, packages)
    imported = {
        name
        for path in our_sources()
        for name in re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(), re.MULTILINE)
    }
    core = {named(one)[0] for one in PROJECT["dependencies"]}
    for module in imported & of_package.keys():
        packages = {named(one)[0] for one in of_package[module]}
        known = packages & core or module in OF_MODULE or packages & {"ranktrial", "pip", "setuptools"}
        assert known or not packages & required(), f"{module} is of no extra in ranktrial/common/extras.py"
    assert set(EXTRAS) == set(OPTIONAL) - {"docs", "test"}


def test_the_line_for_a_missing_module():
    with (
        pytest.raises(UserError, match=r"torch is not installed, which comes with the extra neural: .*'\.\[neural\]'"),
        names_extras(),
    ):
        raise ModuleNotFoundError("No module named 'torch'", name="torch.nn")
    with pytest.raises(ModuleNotFoundError), names_extras():
        raise ModuleNotFoundError("No module named 'own'", name="own")


def python(code, *arguments, absent=(), cwd=None):
    script = CORE_ALONE.format(absent=set(absent), arguments=arguments, code=code)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=cwd, env={"PYTHONPATH": str(REPOSITORY)}
    )


def test_importing_loads_nothing_and_names_are_there():
    code = "import ranktrial as rt; print(sorted(n for n in sys.modules if n.partition('.')[0] in ('numpy', 'pandas', 'yaml')), rt.__version__)"
    assert python(code).stdout.strip() == f"[] {ranktrial.__version__}"
    stub = (REPOSITORY / "ranktrial/__init__.pyi").read_text()
    assert set(re.findall(r" as (\w+)$", stub, re.MULTILINE)) | {"__version__"} == set(ranktrial.__all__)
    assert not hasattr(ranktrial, "nothing")


def test_the_core_compares_scores_and_runs_without_any_extra(tmp_path):
    rows = [f"t,q{n},{system},{(n * (3 + place) % 7) / 7}" for n in range(10) for place, system in enumerate("ab")]
    (tmp_path / "s.csv").write_text("\n".join(["task,query,system,value", *rows]) + "\n")
    (tmp_path / "q.txt").write_text("".join(f"q{n} 0 d{n % 3} 1\n" for n in range(10)))
    for place, system in enumerate("ab"):
        lines = [
            f"q{n} Q0 d{(n * (1 + place) + rank) % 3} {rank} {5 - rank} x\n" for n in range(10) for rank in (1, 2, 3)
        ]
        (tmp_path / f"{system}.run").write_text("".join(lines))
    code = "from ranktrial.api.command import main; main()"
    for files in (["s.csv"], ["q.txt", "a.run", "b.run"]):
        done = python(code, "compare", *files, "--out", "page", absent=OF_MODULE, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "On this collection" in done.stdout and (tmp_path / "page/report.html").exists()
    (tmp_path / "s.parquet").write_bytes(b"PAR1 and more")
    done = python(code, "compare", "s.parquet", absent=OF_MODULE, cwd=tmp_path)
    assert (
        done.returncode == 2
        and done.stderr.startswith("error: pyarrow is not installed")
        and done.stderr.count("\n") == 1
    )


def test_new_needs_no_extra(tmp_path):
    from tests.new import folders

    for layout in ("beir", "runs", "scores"):
        folders.LAYOUTS[layout](tmp_path / layout)
        done = python("from ranktrial.api.command import main; main()", "new", layout, absent=OF_MODULE, cwd=tmp_path)
        assert done.returncode == 0 and (tmp_path / f"{layout}.yaml").exists(), done.stderr
