"""What the jobs that fetch and prepare are given, on small experiments."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.resolution import resolve
from scripts.datasets import planning
from tests.experiment.test_config import changed, resolved
from tests.support.one_line import refused

URL = "https://example.org/data.zip"
DATASETS = {
    "remote": {"format": "beir", "location": URL, "sha256": "0" * 64},
    "half": {"format": "beir", "location": URL, "sha256": "0" * 64, "corpus": "remote"},
    "judged": {"format": "qrels", "location": "tests"},
    "scored": {"format": "scores", "measure": "accuracy"},
    "d": {"format": "beir", "location": "tests"},
}
EXPERIMENT = resolved({"datasets": DATASETS})


def sources(experiment=EXPERIMENT, content=lambda path: None, before=None):
    return planning.sources_of(experiment, "c.yaml", content, before or {})


def test_datasets_are_prepared_by_what_they_have():
    assert list(planning.prepared(EXPERIMENT)) == ["remote", "half", "judged", "d"]
    assert planning.whole(EXPERIMENT) == ["remote", "d"]
    assert planning.without_corpus(EXPERIMENT) == ["half"]
    assert planning.judgements_only(EXPERIMENT) == ["judged"]
    assert planning.shared_corpus(EXPERIMENT, "half") == "results/e/data/remote/corpus.jsonl"
    assert planning.shared_corpus(EXPERIMENT, "remote") == []


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        ({}, False),
        ({"datasets/d": {"format": "hub", "location": "hub:a/b", "revision": "0" * 40}}, True),
        ({"features": {"few": {"first_stage": "bm25", "of": ["BM25"]}}}, True),
    ],
)
def test_libraries_of_datasets_are_needed_by_their_formats_and_by_features(changes, needed):
    assert planning.reads_with_libraries(resolved({"datasets": DATASETS, **changes})) == needed


def test_what_only_says_where_a_dataset_lies_is_no_setting_of_its_preparation():
    settings = planning.dataset_settings(EXPERIMENT, "half")
    assert settings["format"] == "beir" and settings["seed"] == EXPERIMENT.seed
    assert not {"location", "licence", "corpus"} & settings.keys()


def test_what_is_excluded_is_a_setting_and_a_file_of_the_preparation(tmp_path):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/pairs.tsv").write_text("q\td\n")
    given = {"own_document": "drop", "excluded": "pairs.tsv"}
    config = changed(
        {"mirrors": [str(tmp_path / "mirror")], **{f"datasets/d/{key}": value for key, value in given.items()}}
    )
    made = resolve(config, "c.yaml")
    assert planning.excluded(made, "d") == planning.excluded_file(made, "d") == str(tmp_path / "mirror/pairs.tsv")
    assert planning.dataset_settings(made, "d")["own_document"] == "drop"
    assert (planning.excluded(EXPERIMENT, "d"), planning.excluded_file(EXPERIMENT, "d")) == ([], None)
    assert "own_document" not in planning.dataset_settings(EXPERIMENT, "d")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"datasets/d/excluded": "pairs.tsv"}, "datasets.d.excluded: no file 'pairs.tsv' here or in the mirrors"),
        ({"datasets/d/own_document": "leave"}, "datasets.d.own_document: "),
        (
            {"datasets/j": {"format": "qrels", "location": "tests", "own_document": "drop"}},
            "datasets.j: a dataset of format qrels cannot have 'own_document'",
        ),
    ],
)
def test_a_mistake_in_what_is_excluded_is_one_line(changes, said):
    with refused(said):
        resolved(changes)


def test_one_location_is_fetched_once_and_what_lies_here_is_not():
    planned = sources()
    download = planned.place(URL)
    assert download.startswith("results/downloads/") and planned.inputs(URL) == download
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
    assert needed["datasets.d"] == {"name": "datasets.d", "location": "tests", "named": []}


def test_a_check_looks_for_the_files_that_a_dataset_names():
    splits = {"topics": {"train": "s", "test": "t"}, "qrels": {"train": "p", "test": "q"}}
    trec = {"format": "trec", "location": "tests", "documents": ["*.xml"]} | splits
    experiment = resolved({"datasets": {"d": trec}})
    (needed,) = (entry for entry in sources(experiment).needed(experiment) if entry["name"] == "datasets.d")
    assert needed["named"] == ["*.xml", "s", "t", "p", "q"]


def test_a_users_file_in_a_mirror_counts_with_its_content(tmp_path):
    (tmp_path / "data.zip").write_text("theirs")
    changes = {"datasets": {"d": {"format": "beir", "location": "nowhere/data.zip"}}, "mirrors": [str(tmp_path)]}
    experiment = resolved(changes)
    planned = sources(experiment, content=lambda path: f"sha256 of {path}")
    (fetched,) = (wanted for wanted in planned.fetched().values() if "content" in wanted)
    assert fetched["content"] == f"sha256 of {tmp_path / 'data.zip'}"


def test_the_files_of_a_users_folder_are_inputs_unless_snakemake_would_take_a_name_for_wildcards(tmp_path):
    (tmp_path / "corpus.jsonl").touch()
    assert sources().inputs(str(tmp_path)) == [str(tmp_path / "corpus.jsonl")]
    (tmp_path / "{task}.txt").touch()
    with pytest.raises(UserError, match="give the file another name"):
        sources().inputs(str(tmp_path))


def of_library(further=(), **entries):
    """An experiment with datasets of ir_datasets: name -> split -> id."""
    of_all = {"format": "ir_datasets", "location": "ir_datasets:antique", **dict(further)}
    made = {name: of_all | {"ids": ids} for name, ids in entries.items()}
    return resolved({"datasets": made | {"d": {"format": "beir", "location": "tests"}}})


def test_ids_of_a_library_are_part_of_what_is_fetched_and_which_split_they_are_is_not():
    train, test = "antique/train", "antique/test"
    experiment = of_library(a={"train": train, "test": test}, b={"train": test, "test": train}, c={"test": test})
    planned = sources(experiment)
    places = [planned.place(*planning.place(experiment, name)) for name in "abc"]
    assert places[0] == places[1] == "results/downloads/ir_datasets-antique" != places[2]
    assert [fetch["ids"] for fetch in planned.fetched().values() if "ids" in fetch] == [[test, train], [test]]
    assert not any(name.startswith("ir_datasets") for name in planned.folders())


def test_another_dataset_of_a_library_does_not_fetch_the_first_again():
    first = of_library(a={"test": "antique/test"})
    before = sources(first).fetched()
    more = of_library(a={"test": "antique/test"}, b={"test": "antique/train"})
    after = sources(more, before=before).fetched()
    assert before.items() <= after.items()


def test_the_check_of_a_library_asks_for_ids_and_fields():
    experiment = of_library({"fields": ["text"]}, a={"test": "antique/test"})
    needed = {entry["name"]: entry for entry in sources(experiment).needed(experiment)}
    assert needed["datasets.a"] == {
        "name": "datasets.a",
        "location": "ir_datasets:antique",
        "ids": ["antique/test"],
        "fields": ["text"],
        "download": "results/downloads/ir_datasets-antique",
    }


def test_keys_without_a_default_that_nobody_wrote_are_no_setting_of_a_preparation():
    written = changed({"datasets/d": {"format": "beir", "location": "tests", "unjudged": "drop"}})
    settings = planning.dataset_settings(resolve(written, "c.yaml"), "d")
    assert not {"test_queries", "dev_queries"} & settings.keys() and "unjudged" not in settings
    assert settings == planning.dataset_settings(resolved({"datasets/d": {"format": "beir", "location": "tests"}}), "d")
    sampled = changed({"datasets/d": {"format": "beir", "location": "tests", "test_queries": 9, "unjudged": "train"}})
    settings = planning.dataset_settings(resolve(sampled, "c.yaml"), "d")
    assert (settings["test_queries"], settings["unjudged"]) == (9, "train")
