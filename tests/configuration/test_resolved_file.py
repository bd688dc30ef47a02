"""The resolved configuration beside the results: complete, free of secrets, and the same experiment when it is used."""

import errno
import os
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from snakemake.utils import update_config

from ranktrial.common.errors import UserError
from ranktrial.common.strict_yaml import read_yaml
from ranktrial.common.urls import MIRRORS, find_file
from ranktrial.configuration.reading import NAME, remove_nulls, write_resolved
from ranktrial.experiment.resolution import resolve

CONFIG = Path(__file__).parents[2] / "config"
LISTS = """
experiment: lists
datasets: {d: {format: beir, location: tests, licence: &said "CC: yes, é"}, e: {format: beir, location: tests, licence: *said}}
models: {m: {type: bi-encoder, weights: org/m}}
recipes: {r: {train_on: d, negatives: {per_query: [1.0, 2]}}}
systems: {bm25: {type: bm25}, tuned: {model: m, recipe: [r-1, r-2], seeds: 2}}
tasks: [d]
comparisons: {c: {control: bm25, treatment: [tuned-r-1, tuned-r-2], effect: [MD, SMD]}}
"""


SHIPPED = [path.name for path in sorted(CONFIG.glob("*.yaml"))]


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_configuration_names_no_place_outside_the_clone(name):
    outside = [
        text for text in strings(read_yaml(CONFIG / name)) if text.startswith(("/", "~", "..")) or "/../" in text
    ]
    assert outside == []


def with_second(name, second):
    config = read_yaml(CONFIG / name)
    update_config(config, read_yaml(CONFIG / "sources" / second))
    remove_nulls(config)
    return resolve(config, "c.yaml")


def test_a_language_model_joins_the_rankers_of_comparative_questions():
    experiment = with_second("touche-open.yaml", "listwise.yaml")
    ranked = {task: experiment.tasks[task] for task in experiment.comparisons["listwise"].tasks}
    assert list(ranked) == ["touche/train"]
    alone = resolve(read_yaml(CONFIG / "touche-open.yaml"), "c.yaml")
    assert set(experiment.systems) - set(alone.systems) == {"listwise"}


def test_the_authors_releases_replace_what_a_configuration_names():
    """The file that pages name beside a configuration: its nulls take keys of the hub away, all others stay."""
    datasets = with_second("families.yaml", "authors.yaml").datasets
    assert [datasets[name].format for name in ("scifact", "nfcorpus", "clef")] == ["scifact", "nfcorpus", "checkthat"]
    assert datasets["scifact"].splits == {"dev": 100} and datasets["scifact"].label == "SciFact"


def test_the_machine_names_mirrors_of_its_own(tmp_path, monkeypatch):
    runs = tmp_path / "runs/of/a.run"
    runs.parent.mkdir(parents=True)
    runs.write_text("q Q0 d 1 1 a\n")
    monkeypatch.setenv(MIRRORS, os.pathsep.join([str(tmp_path / "none"), str(tmp_path / "runs")]))
    assert find_file("of/a.run", []) == str(runs)
    monkeypatch.delenv(MIRRORS)
    assert find_file("of/a.run", []) is None


@pytest.mark.parametrize("name", SHIPPED)
def test_it_resolves_to_the_same_experiment(name, tmp_path, monkeypatch):
    monkeypatch.chdir(CONFIG.parent)
    same_experiment(read_yaml(CONFIG / name), tmp_path)


def test_lists_stay_lists_and_aliases_are_written_out(tmp_path, monkeypatch):
    monkeypatch.chdir(CONFIG.parent)
    (tmp_path / "lists.yaml").write_text(LISTS)
    written = same_experiment(read_yaml(tmp_path / "lists.yaml"), tmp_path / "results")
    assert written["systems"]["tuned"]["recipe"] == ["r-1", "r-2"] and written["depth"] > 0
    assert written["datasets"]["e"]["licence"] == "CC: yes, é"
    assert "&id" not in (tmp_path / "results" / NAME).read_text()


def same_experiment(config, folder):
    """Write the configuration, read it back and hold it to what it was written from; gives what was written."""
    try:
        expected = asdict(resolve(config, "c.yaml"))
    except UserError as error:
        if not re.search("no file (or folder )?'.* here or in the mirrors", str(error)):
            raise
        pytest.skip(str(error))  # data that is not on this machine
    write_resolved(config, "c.yaml", folder)
    written = read_yaml(folder / NAME)
    assert asdict(resolve(written, NAME)) == expected
    again = folder / "again"
    write_resolved(written, NAME, again)
    assert (again / NAME).read_bytes() == (folder / NAME).read_bytes()
    return written


def test_a_secret_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(UserError, match=r"contains a URL with a user") as reported:
        write_resolved({"datasets": {"d": {"location": "https://me:hidden@host/x"}}}, "c.yaml", tmp_path)
    assert "hidden" not in str(reported.value) and not list(tmp_path.iterdir())


def test_a_failure_keeps_the_earlier_file_and_is_one_line(tmp_path, monkeypatch):
    config = read_yaml(CONFIG / "ranger-glue.yaml")
    write_resolved(config, "c.yaml", tmp_path)
    before = (tmp_path / NAME).read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UserError, match=r"config\.yaml: cannot be written: "):
        write_resolved(config, "c.yaml", tmp_path)
    assert (tmp_path / NAME).read_bytes() == before and list(tmp_path.iterdir()) == [tmp_path / NAME]
