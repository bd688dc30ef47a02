"""`make setup` installs the extras that are asked for, from the lock and with its hashes, and a build of torch: here from an
index of made-up wheels. The library is a package.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ranktrial.archive.identities import installed

REPOSITORY = Path(__file__).parents[2]
LOCK = (REPOSITORY / "requirements.lock").read_text()
VERSION = re.search(r"^torch==([\d.]+)", LOCK, re.MULTILINE)[1]
PIP = re.search(r"^pip==.*?\n(?=[a-z])", LOCK, re.MULTILINE | re.DOTALL)[0]


def wheel(folder, version):
    """A wheel of a torch that is empty; its SHA-256."""
    info = f"torch-{version}.dist-info"
    files = {
        "torch/__init__.py": f"__version__ = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    sums = {name: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()) for name, text in files.items()}
    listed = [f"{name},sha256={digest.decode().rstrip('=')}," for name, digest in sums.items()]
    files[f"{info}/RECORD"] = "\n".join([*listed, f"{info}/RECORD,,"])
    with zipfile.ZipFile(made := folder / f"torch-{version}-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return hashlib.sha256(made.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The Makefile with an extra of torch alone, and an index with three builds of it, of which the lock has one."""
    folder = tmp_path_factory.mktemp("setup")
    for name in ("Makefile", "scripts/engine/snakemake.sh"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPOSITORY / name, folder / name)
    (folder / "pyproject.toml").write_text(
        '[project]\ndependencies = []\noptional-dependencies = {neural = ["torch"], test = []}\n'
    )
    (folder / ".venv").mkdir()
    (folder / ".venv/.sources").write_text(f"{folder}\n")  # this clone has no library to install
    index = folder / "index/torch"
    index.mkdir(parents=True)
    hashes = {build: wheel(index, f"{VERSION}+{build}") for build in ("cpu", "cu126", "cu130")}
    (folder / "requirements.lock").write_text(f"{PIP}torch=={VERSION} --hash=sha256:{hashes['cpu']}\n    # via\n")
    links = "".join(f'<a href="{path.name.replace("+", "%2B")}">{path.name}</a>\n' for path in index.glob("*.whl"))
    (index / "index.html").write_text(links)
    return folder


def made(clone, *arguments):
    command = ["make", "setup", f"BASE_PYTHON={sys.executable}", "EXTRAS=neural", *arguments]
    offered = {**os.environ, "PIP_FIND_LINKS": (clone / "index/torch").as_uri()}
    return subprocess.run(command, cwd=clone, capture_output=True, text=True, env=offered)


def recorded(clone):
    return installed([str(next((clone / ".venv/lib").glob("python*/site-packages")))])["torch"]


@pytest.mark.slow
def test_a_build_is_installed_changed_and_kept_and_provenance_names_it(clone):
    index = f"TORCH_INDEX={(clone / 'index').as_uri()}"
    done = made(clone)
    assert done.returncode == 0, done.stderr
    assert recorded(clone) == f"{VERSION}+cpu", "the build that pip's configuration offers"
    done = made(clone, "TORCH=cu126", index)
    assert done.returncode == 0, done.stderr
    assert recorded(clone) == f"{VERSION}+cu126"
    assert "pip install" not in made(clone).stdout and recorded(clone) == f"{VERSION}+cu126"  # without TORCH it stays
    done = made(clone, "TORCH=cu999", index)
    assert done.returncode and f"torch=={VERSION}+cu999" in done.stderr and recorded(clone) == f"{VERSION}+cu126"


@pytest.mark.slow
def test_another_extra_keeps_what_is_installed_and_another_file_is_refused(clone):
    assert made(clone).returncode == 0
    done = made(clone, "EXTRAS=test")
    assert done.returncode == 0 and "setting up .venv with core neural test" in done.stdout
    assert {path.name for path in (clone / ".venv/.extras").iterdir()} == {"core", "neural", "test"}
    lock = clone / "requirements.lock"
    lock.write_text(re.sub("(torch.*sha256:).*", r"\g<1>" + 64 * "0", lock.read_text()))
    shutil.rmtree(clone / ".venv")
    done = made(clone)
    assert done.returncode and "DO NOT MATCH THE HASHES" in done.stderr
    assert not (clone / ".venv/.extras").exists(), "nothing is noted as installed"


def dry(*arguments):
    command = ["make", "--dry-run", *arguments, "VENV=none"]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)


def test_the_usual_index_is_that_of_pytorch():
    commands = dry("packages", "EXTRAS=neural", "TORCH=cu126").stdout
    assert f"--index-url='https://download.pytorch.org/whl/cu126' 'torch=={VERSION}+cu126'" in commands
    plain = dry("packages", "EXTRAS=neural").stdout
    assert "--index-url" not in plain and "--require-hashes --constraint=requirements.lock" in plain
    assert "torch" not in dry("packages", "EXTRAS=workflow learning-to-rank").stdout


@pytest.mark.parametrize(
    ("goals", "extras"),
    [
        ("run", "core workflow"), ("status", "core"), ("docs", "core docs"), ("run docs", "core docs workflow"),
        ("setup", "bm25 core datasets learning-to-rank neural workflow"), ("check-gpu", "core neural workflow"),
        ("lint types", "bm25 core datasets learning-to-rank neural test workflow"),
    ],
)  # fmt: skip
def test_a_target_asks_for_the_extras_that_it_needs(goals, extras):
    assert f"for extra in {extras};" in dry(*goals.split()).stdout


def test_a_python_that_no_test_knows_is_refused(tmp_path):
    (old := tmp_path / "python").write_text(
        f"#!/bin/sh\nshift; exec {sys.executable} -c 'import sys; sys.version_info = (3, 14); '\"$1\"\n"
    )
    old.chmod(0o755)
    command = ["make", "packages", f"BASE_PYTHON={old}", f"VENV={tmp_path}/venv", "EXTRAS=core"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode and "error: BASE_PYTHON: Python 3.11, 3.12 or 3.13 is needed, this is" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_an_unknown_extra_is_refused():
    done = subprocess.run(["make", "setup", "EXTRAS=gpu; true"], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode and "error: EXTRAS: expected some of core workflow datasets bm25 neural" in done.stderr


@pytest.mark.slow
def test_the_library_is_a_package_with_all_its_files(tmp_path):
    clone, target = tmp_path / "clone", tmp_path / "target"
    clone.mkdir()
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(REPOSITORY / name, clone)
    unsaid = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "ranktrial", clone / "ranktrial", ignore=unsaid)
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", f"--target={target}", str(clone)]
    subprocess.run([sys.executable, *install], check=True)
    files = {path.relative_to(clone) for path in (clone / "ranktrial").rglob("*") if path.is_file()}
    assert files == {
        path.relative_to(target)
        for path in (target / "ranktrial").rglob("*")
        if path.parent.name != "__pycache__" and path.is_file()
    }
    program = f"import sys; sys.path.insert(0, {str(target)!r}); import ranktrial.statistics.comparison as c; print(c.__file__)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()).is_relative_to(target)
