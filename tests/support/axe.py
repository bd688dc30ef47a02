"""The source of axe-core, from npm, for tests of pages (kept in pytest's cache)."""

import shutil
import subprocess
import tarfile

import pytest

AXE = "axe-core@4.14.1"


@pytest.fixture(scope="module")
def axe(pytestconfig):
    folder = pytestconfig.cache.mkdir("axe")
    if not list(folder.glob("*.tgz")):
        if not shutil.which("npm"):
            pytest.skip("no npm here to fetch axe-core with")
        done = subprocess.run(["npm", "pack", AXE], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"axe-core cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()
