"""The warning that Snakemake is newer than the version that the workflow was tested with."""

import pytest

from ranktrial.engine.versions import newer_than_tested


@pytest.mark.parametrize("version", ["9.27.0", "9.27.14", "9.9.0", "8.30.1", "unknown"])
def test_older_and_tested_versions_are_no_warning(version):
    assert newer_than_tested(version) is None


@pytest.mark.parametrize("version", ["9.28.0", "9.100.1", "10.0.0", "10.0.0rc1"])
def test_newer_versions_are_named(version):
    assert newer_than_tested(version).startswith(f"Snakemake {version} is newer than 9.27")
