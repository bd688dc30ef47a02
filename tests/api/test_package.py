"""The package: what importing it loads, what its core needs, and which extra has what is missing."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

import ranktrial
from ranktrial.common.errors import UserError
from ranktrial.common.extras import EXTRAS, OF_MODULE, SETUP, missing, names_extras, provide
from tests.support import environments
from tests.support.environments import EXTRAS as OPTIONAL
from tests.support.environments import PROJECT, name
from tests.support.sources import our_sources

REPOSITORY = Path(__file__).parents[2]
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


def named(requirements):
    return {name(one) for one in requirements}


LOCKED = {name(line) for line, *_ in environments.LOCK}


def test_core_and_extras_are_in_the_lock_and_each_package_stands_once():
    stated = [one for of in (PROJECT["dependencies"], *OPTIONAL.values()) for one in named(of)]
    assert len(set(stated)) == len(stated), "a package in two places"
    assert set(stated) <= LOCKED, "make lock"
    text = (REPOSITORY / "requirements.lock").read_text()
    packages = re.findall(r"^[a-z].*?(?=^[a-z]|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(packages) == len(environments.LOCK) and all(" --hash=sha256:" in one for one in packages)
    assert "://" not in text, "the lock names no index"


def test_a_missing_module_is_named_with_the_extra_that_has_it():
    """The modules are those that the sources import, each of a package of the extra."""
    of_package = importlib.metadata.packages_distributions()
    for module, extra in OF_MODULE.items():
        packages = named(of_package[module])
        assert packages & named(OPTIONAL[extra]), (module, extra, packages)
    imported = {
        name
        for path in our_sources()
        for name in re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(), re.MULTILINE)
    }
    core, stated = named(PROJECT["dependencies"]), named(chain(PROJECT["dependencies"], *OPTIONAL.values()))
    for module in imported & of_package.keys():
        packages = named(of_package[module])
        known = packages & core or module in OF_MODULE or packages & {"ranktrial", "pip", "setuptools"}
        assert known or not packages & stated, f"{module} is of no extra in ranktrial/common/extras.py"
    assert set(EXTRAS) == set(OPTIONAL) - {"docs", "test"}


def test_the_line_for_a_missing_module():
    with (
        pytest.raises(
            UserError,
            match=r"^torch is not installed, which comes with the extra neural: make setup EXTRAS=neural in a clone, or pip",
        ),
        names_extras(),
    ):
        raise ModuleNotFoundError("No module named 'torch'", name="torch.nn")
    with pytest.raises(ModuleNotFoundError), names_extras():
        raise ModuleNotFoundError("No module named 'own'", name="own")


def test_the_line_for_the_extras_that_a_configuration_needs(monkeypatch):
    monkeypatch.delenv(SETUP, raising=False)
    assert missing(["neural", "workflow"]) == []
    provide(["workflow", "another workflow's environment"], "c.yaml")
    monkeypatch.setitem(EXTRAS, "bm25", ("a_module_that_is_not_there",))
    with pytest.raises(
        UserError,
        match=r"^c.yaml: this configuration needs the extra bm25: make setup EXTRAS=bm25 in a clone, or pip install 'ranktrial.bm25.'$",
    ):
        provide(["neural", "bm25"], "c.yaml")
    monkeypatch.setitem(EXTRAS, "neural", ("torch", "another"))
    with pytest.raises(
        UserError, match=r"needs the extras bm25, neural: make setup EXTRAS='bm25 neural' in a clone, or "
    ):
        provide(["neural", "bm25"], "c.yaml")


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


def interpreter(version):
    """A Python of that version, or a skip with the reason."""
    found = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    for path in filter(None, found):
        if not subprocess.run([path, "-c", ""], capture_output=True).returncode:
            return str(path)
    pytest.skip(f"Python {version} is not on this machine")


def compares(run, folder):
    """Two comparisons and a page each, with `run`, which starts a Python with a script and arguments."""
    rows = [f"t,q{n},{system},{(n * (3 + place) % 7) / 7}" for n in range(10) for place, system in enumerate("ab")]
    (folder / "s.csv").write_text("\n".join(["task,query,system,value", *rows]) + "\n")
    (folder / "q.txt").write_text("".join(f"q{n} 0 d{n % 3} 1\n" for n in range(10)))
    for place, system in enumerate("ab"):
        lines = [
            f"q{n} Q0 d{(n * (1 + place) + rank) % 3} {rank} {5 - rank} x\n" for n in range(10) for rank in (1, 2, 3)
        ]
        (folder / f"{system}.run").write_text("".join(lines))
    for files in (["s.csv"], ["q.txt", "a.run", "b.run"]):
        done = run("compare", *files, "--out", "page")
        assert done.returncode == 0, done.stderr
        assert f"On this {'task' if files == ['s.csv'] else 'collection'}" in done.stdout
        assert (folder / "page/report.html").exists()
        assert (folder / "page/explorer/vendor/d3.min.js").exists()
    (folder / "s.parquet").write_bytes(b"PAR1 and more")
    done = run("compare", "s.parquet")
    assert done.returncode == 2 and done.stderr.startswith("error: pyarrow is not installed")
    assert done.stderr.count("\n") == 1


def test_the_core_compares_scores_and_runs_without_any_extra(tmp_path):
    code = "from ranktrial.api.command import main; main()"
    compares(lambda *words: python(code, *words, absent=OF_MODULE, cwd=tmp_path), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_core_is_installed_from_the_lock_and_compares(version, tmp_path):
    venv = tmp_path / "venv"
    command = ["make", "setup", "EXTRAS=core", f"VENV={venv}", f"BASE_PYTHON={interpreter(version)}"]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    size = sum(path.lstat().st_size for path in venv.rglob("*")) / 1e6
    assert size < 350, f"{size:.0f} MB"
    program = venv / "bin/ranktrial"
    compares(lambda *words: subprocess.run([program, *words], capture_output=True, text=True, cwd=tmp_path), tmp_path)


def test_new_needs_no_extra(tmp_path):
    from tests.new import folders

    for layout in ("beir", "runs", "scores"):
        folders.LAYOUTS[layout](tmp_path / layout)
        done = python("from ranktrial.api.command import main; main()", "new", layout, absent=OF_MODULE, cwd=tmp_path)
        assert done.returncode == 0 and (tmp_path / f"{layout}.yaml").exists(), done.stderr
