"""Experiments of one clone share downloads: none makes another's results outdated, whichever way they had the files."""

import itertools
import json
import os
import re
import shutil
import subprocess
import zipfile

import pytest

from ranktrial.common.files import sha256
from ranktrial.configuration.reading import complete, configuration, read_yaml
from ranktrial.engine.downloads import fetched, names, sources
from tests.workflow.conftest import REPOSITORY, Workspace, tiny_config

PLACE = "https://nowhere.invalid"
CONFIGURATIONS = sorted((REPOSITORY / "config").glob("*.yaml"))


def experiment(workspace, name, mirrors, data="weather.zip"):
    """Write the configuration of an experiment whose data and weights are downloads; returns the file's name."""
    config = tiny_config()
    digest = sha256(workspace.folder / "mirrors/first" / data)
    config |= {"experiment": name, "recipes": {}, "mirrors": mirrors}
    config["datasets"]["weather"] = {"format": "beir", "location": f"{PLACE}/weather.zip", "sha256": digest}
    weights = f"{PLACE}/tiny.zip?token=${{TINY_TOKEN}}" if name == "second" else f"{PLACE}/tiny.zip?token=${{TOKEN}}"
    model = sha256(workspace.folder / "weights/tiny/model.safetensors")
    config["models"] = {"bert": config["models"]["bert"] | {"weights": weights, "sha256": model}}
    config["systems"] = {one: config["systems"][one] for one in ("plain", "zero-shot")}
    config["comparisons"] = {"dense": {"control": "plain", "treatment": "zero-shot"}}
    workspace.write_config(config, f"{name}.yaml")
    return f"{name}.yaml"


def pack(folder, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder.parent))


@pytest.fixture(scope="module")
def finished_pair(prepared, tmp_path_factory):
    """Two finished experiments that share data and weights, which they had from different mirrors."""
    from tests.workflow.conftest import copy

    workspace = copy(prepared.folder, tmp_path_factory.mktemp("shared") / "ranktrial")
    folder = workspace.folder
    pack(folder / "data/weather", folder / "mirrors/first/weather.zip")
    pack(folder / "weights/tiny", folder / "mirrors/first/tiny.zip")
    shutil.copytree(folder / "mirrors/first", folder / "mirrors/second/deep")
    workspace.run(config=experiment(workspace, "first", ["mirrors/first"]))
    workspace.run("prepare", config=experiment(workspace, "second", ["mirrors/second"]))
    return workspace


@pytest.mark.long
def test_every_order_leaves_the_other_experiment_finished(finished_pair):
    downloads = sorted(path.name for path in (finished_pair.folder / "results/downloads").iterdir())
    assert downloads == ["https-nowhere.invalid-tiny.zip-token=-", "https-nowhere.invalid-weather.zip"]
    assert finished_pair.planned("first.yaml") == set()
    assert finished_pair.planned("second.yaml", "prepare") == set()


@pytest.mark.parametrize("mirrors", [[], ["elsewhere", "mirrors/second"]], ids=str)
def test_a_copy_with_other_mirrors_has_nothing_to_do(finished_pair, mirrors):
    config = read_yaml(finished_pair.folder / "first.yaml") | {"mirrors": mirrors}
    finished_pair.write_config(config, "copy.yaml")
    assert finished_pair.planned("copy.yaml") == set()


def test_other_code_that_fetches_is_no_reason_to_fetch_again(finished_pair):
    with open(finished_pair.folder / "scripts/datasets/fetch.py", "a") as script:
        script.write("\nEDITED = True\n")
    assert finished_pair.planned("second.yaml", "prepare") == set()


def test_another_file_at_the_same_place_is_another_download(finished_pair):
    """Its SHA-256 tells it apart: both experiments end, and neither makes the other's results outdated."""
    folder = finished_pair.folder
    with zipfile.ZipFile(folder / "mirrors/second/weather.zip", "w") as archive:
        for path in sorted((folder / "data/weather").rglob("*")):
            archive.write(path, path.relative_to(folder / "data"))
        archive.writestr("weather/more.txt", "another version")
    shutil.copy(folder / "mirrors/second/weather.zip", folder / "mirrors/first/newer.zip")
    third = experiment(finished_pair, "third", ["mirrors"], data="newer.zip")
    finished_pair.run("prepare", config=third)
    assert finished_pair.planned("first.yaml") == set()
    assert finished_pair.planned(third, "prepare") == set()
    assert len(list((folder / "results/downloads").glob("https-nowhere.invalid-weather.zip-*"))) == 1


def test_an_archive_holds_the_reference_and_never_the_secret(finished_pair):
    folder, secret = finished_pair.folder, "s3cr3t-of-the-archive"
    for path in (folder / "results/state/metadata").iterdir():
        assert "TOKEN" not in path.read_text()
    log = folder / "results/first/logs/weights/bert.log"
    times = log.stat()
    log.write_text(f"{log.read_text()}GET https://h/x?token={secret}\n")
    os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))
    command = [Workspace.python, "-m", "scripts.archive.front", "--config", "first.yaml"]
    environment = os.environ | {"TOKEN": secret, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(folder / "results/first/first.crate.zip") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    assert not any(secret.encode() in one for one in content.values())
    reported = {name for name, one in content.items() if b"${TOKEN}" in one and not name.startswith("workflow/")}
    assert reported == {"config/first.yaml", "config/resolved.yaml"}
    assert b"tiny.zip?token=***" in content["provenance/identities.json"]


def test_configurations_that_come_with_ranktrial_agree_on_what_they_share():
    fetched_by = {}
    for path in CONFIGURATIONS:
        config, _ = complete(read_yaml(path), path.name)
        read = configuration(config, path.name)
        prepared = {name: dataset for name, dataset in read.datasets.items() if dataset.location}
        wanted = list({json.dumps(w): w for w in sources(prepared, read.models, path.name).values()}.values())
        fetched_by[path.stem] = dict(zip(names(wanted, {}), wanted, strict=True))
    shared = 0
    for one, other in itertools.combinations(fetched_by.values(), 2):
        for name in one.keys() & other.keys():
            if one[name].get("revision") == other[name].get("revision"):  # another one is another download
                assert one[name] == other[name]
                shared += 1
    assert shared >= 5, "too little is shared for this to say something"
    assert not any("mirrors" in wanted for one in fetched_by.values() for wanted in one.values())


def test_the_bytes_behind_the_documented_numbers_are_those_of_the_developers(shared_data):
    page = (REPOSITORY / "docs/studies/families.md").read_text()
    rows = dict(re.findall(r"^\| (\w+), repacked \| .*`(\w{64})`", page, re.M))
    assert rows == {name: sha256(shared_data / f"beir/{name.lower()}.zip") for name in ("SciFact", "NFCorpus")}


def test_what_decides_a_fetch_is_what_is_fetched_alone():
    block = (REPOSITORY / "rules/downloads.smk").read_text().partition("rule fetch:")[2].partition("rule prepare:")[0]
    assert "input:" not in block and "mirrors" not in block


def test_records_that_are_damaged_are_passed_over(tmp_path):
    import base64

    for number, content in enumerate(
        ["", "[]", '{"rule": "fetch"}', '{"rule": "fetch", "params": ["x"]}', "null", "{"]
    ):
        name = base64.urlsafe_b64encode(f"results/downloads/{number}".encode()).decode()
        (tmp_path / name).write_text(content)
    assert fetched(tmp_path) == {}
    assert fetched(tmp_path / "none") == {}
