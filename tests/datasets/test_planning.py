"""What the jobs that fetch and prepare are given, on small experiments."""

import pytest

from scripts.common.errors import UserError
from scripts.datasets import planning
from scripts.experiment.resolution import resolve
from tests.experiment.test_config import changed

URL = "https://example.org/data.zip"
DATASETS = {
    "remote": {"format": "beir", "location": URL, "sha256": "0" * 64},
    "half": {"format": "beir", "location": URL, "sha256": "0" * 64, "corpus": "remote"},
    "judged": {"format": "qrels", "location": "tests"},
    "scored": {"format": "scores", "measure": "accuracy"},
    "d": {"format": "beir", "location": "tests"},
}
EXPERIMENT = resolve(changed({"datasets": DATASETS}), "c.yaml")


def sources(experiment=EXPERIMENT, content=lambda path: None, before=None):
    return planning.sources_of(experiment, "c.yaml", content, before or {})


def test_datasets_are_prepared_by_what_they_have():
    assert list(planning.prepared(EXPERIMENT)) == ["remote", "half", "judged", "d"]
    assert planning.whole(EXPERIMENT) == ["remote", "d"]
    assert planning.without_corpus(EXPERIMENT) == ["half"]
    assert planning.judgements_only(EXPERIMENT) == ["judged"]
    assert planning.shared_corpus(EXPERIMENT, "half") == "results/e/data/remote/corpus.jsonl"
    assert planning.shared_corpus(EXPERIMENT, "remote") == []


def test_what_only_says_where_a_dataset_lies_is_no_setting_of_its_preparation():
    settings = planning.dataset_settings(EXPERIMENT, "half")
    assert settings["format"] == "beir" and settings["seed"] == EXPERIMENT.seed
    assert not {"location", "licence", "corpus"} & settings.keys()


def test_one_location_is_fetched_once_and_what_lies_here_is_not():
    planned = sources()
    download = planned.place(URL)
    assert download.startswith("results/downloads/") and planned.inputs(URL) == download
    assert planned.own(URL) is None and planned.own("tests") == "tests"
    assert (
        len([wanted for wanted in planned.fetched().values() if wanted.get("location", "").endswith("data.zip")]) == 1
    )
    assert planned.settings("tests") == {"source": "tests"}


def test_models_are_fetched_as_folders_and_files_as_files():
    planned = sources()
    assert {planned.fetched()[name]["location"] for name in planned.folders()} == {"org/m", "org/ce"}
    assert [planned.fetched()[name]["sha256"] for name in planned.files()] == ["0" * 64]


def test_a_check_asks_for_everything_and_says_what_is_downloaded():
    needed = {entry["name"]: entry for entry in sources().needed(EXPERIMENT)}
    assert needed.keys() == {
        "datasets.remote",
        "datasets.half",
        "datasets.judged",
        "datasets.d",
        "models.m",
        "models.ce",
    }
    assert needed["datasets.remote"]["download"] == sources().place(URL)
    assert needed["datasets.d"] == {"name": "datasets.d", "location": "tests"}


def test_a_users_file_in_a_mirror_counts_with_its_content(tmp_path):
    (tmp_path / "data.zip").write_text("theirs")
    changes = {"datasets": {"d": {"format": "beir", "location": "nowhere/data.zip"}}, "mirrors": [str(tmp_path)]}
    experiment = resolve(changed(changes), "c.yaml")
    planned = sources(experiment, content=lambda path: f"sha256 of {path}")
    (fetched,) = (wanted for wanted in planned.fetched().values() if "content" in wanted)
    assert fetched["content"] == f"sha256 of {tmp_path / 'data.zip'}"


def test_the_files_of_a_users_folder_are_inputs_unless_snakemake_would_take_a_name_for_wildcards(tmp_path):
    (tmp_path / "corpus.jsonl").touch()
    assert sources().inputs(str(tmp_path)) == [str(tmp_path / "corpus.jsonl")]
    (tmp_path / "{task}.txt").touch()
    with pytest.raises(UserError, match="give the file another name"):
        sources().inputs(str(tmp_path))
