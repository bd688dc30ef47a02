"""`make setup TORCH=…` installs another build of the locked torch, here from an index of made-up wheels."""

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
