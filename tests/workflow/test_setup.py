"""`make setup TORCH=…` installs another build of the locked torch, here from an index of made-up wheels; the library is a package."""

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ranktrial.archive.identities import installed

REPOSITORY = Path(__file__).parents[2]
VERSION = re.search(r"^torch==(\S+)$", (REPOSITORY / "requirements.lock").read_text(), re.MULTILINE)[1]


def wheel(folder, version):
    """A wheel of a torch that is empty."""
    info = f"torch-{version}.dist-info"
    files = {
        "torch/__init__.py": f"__version__ = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    sums = {name: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()) for name, text in files.items()}
    listed = [f"{name},sha256={digest.decode().rstrip('=')}," for name, digest in sums.items()]
    files[f"{info}/RECORD"] = "\n".join([*listed, f"{info}/RECORD,,"])
    with zipfile.ZipFile(folder / f"torch-{version}-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The Makefile with a lock of torch alone, and an index with three builds of it."""
    folder = tmp_path_factory.mktemp("setup")
    (folder / "requirements.lock").write_text(f"torch=={VERSION}\n")
    for name in ("Makefile", "scripts/engine/snakemake.sh"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPOSITORY / name, folder / name)
    (folder / ".venv").mkdir()
    (folder / ".venv/.sources").write_text(f"{folder}\n")  # this clone has no library to install
    index = folder / "index/torch"
    index.mkdir(parents=True)
    for build in ("cpu", "cu126", "cu130"):
        wheel(index, f"{VERSION}+{build}")
    links = "".join(f'<a href="{path.name.replace("+", "%2B")}">{path.name}</a>\n' for path in index.glob("*.whl"))
    (index / "index.html").write_text(links)
    return folder


def made(clone, *arguments):
    command = [
        "make",
        "setup",
        f"BASE_PYTHON={sys.executable}",
        f"TORCH_INDEX={(clone / 'index').as_uri()}",
        *arguments,
    ]
    return subprocess.run(command, cwd=clone, capture_output=True, text=True)


def recorded(clone):
    return installed([str(next((clone / ".venv/lib").glob("python*/site-packages")))])["torch"]


@pytest.mark.slow
def test_a_build_is_installed_changed_and_kept_and_provenance_names_it(clone):
    done = made(clone, "TORCH=cu126")
    assert done.returncode == 0, done.stderr
    assert recorded(clone) == f"{VERSION}+cu126"
    assert "pip install" not in made(clone).stdout and recorded(clone) == f"{VERSION}+cu126"  # without TORCH it stays
    assert made(clone, "TORCH=cpu").returncode == 0 and recorded(clone) == f"{VERSION}+cpu"
    done = made(clone, "TORCH=cu999")
    assert done.returncode and f"torch=={VERSION}+cu999" in done.stderr and recorded(clone) == f"{VERSION}+cpu"


def test_the_usual_index_is_that_of_pytorch(clone):
    command = ["make", "--dry-run", "setup", "TORCH=cu126", "VENV=none"]
    commands = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True).stdout
    assert f"--index-url='https://download.pytorch.org/whl/cu126' 'torch=={VERSION}+cu126'" in commands
    plain = subprocess.run([*command[:3], "VENV=none"], cwd=REPOSITORY, capture_output=True, text=True).stdout
    assert "--index-url" not in plain and "-r requirements.lock" in plain


@pytest.mark.slow
def test_the_library_is_a_package_with_all_its_files(tmp_path):
    clone, target = tmp_path / "clone", tmp_path / "target"
    clone.mkdir()
    for name in ("pyproject.toml", "requirements.in", "LICENSE"):
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
