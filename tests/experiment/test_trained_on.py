"""What published weights were trained on: tasks of these datasets are in-domain, and no job runs again for it."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import datasets_learnt, describe, is_unstated
from ranktrial.experiment.exhibits import forest
from ranktrial.experiment.leakage import learnt_from
from scripts.inference import planning as inference
from scripts.training import planning
from tests.experiment.test_config import resolved

PUBLISHED = {"models/m/trained_on": ["d", "msmarco"]}


def test_tasks_of_these_datasets_are_in_domain():
    experiment = resolved(PUBLISHED | {"systems/zero": {"model": "m"}, "recipes/r/train_on": "e"} | OTHER)
    zero, tuned = experiment.systems["zero"], experiment.systems["tuned"]
    assert datasets_learnt(experiment, zero, "d") == ["d"]
    assert datasets_learnt(experiment, tuned, "d") == ["e", "d"]
    assert learnt_from(experiment, "tuned", "d") == {("d", "train"), ("e", "train")}
    compared = next(iter(experiment.comparisons.values()))
    assert (compared.control, compared.treatment) == ("bm25", "tuned")
    assert forest.known(experiment, compared.name)["marks"]["trained"] == {"tuned": ["d"]}


def test_a_student_is_in_domain_where_its_teachers_weights_are():
    taught = {"recipes/r/teacher": "ce", "systems/ce": {"model": "ce", "rerank": {"first_stage": "bm25"}}}
    experiment = resolved(taught | OTHER | {"recipes/r/train_on": "e", "models/ce/trained_on": ["d"]})
    assert datasets_learnt(experiment, experiment.systems["tuned"], "d") == ["e", "d"]


def test_a_fusion_is_in_domain_where_a_part_is():
    fused = {"systems/zero": {"model": "m"}, "systems/both": {"type": "fusion", "systems": ["bm25", "zero"]}}
    experiment = resolved(PUBLISHED | fused)
    assert datasets_learnt(experiment, experiment.systems["both"], "d") == ["d"]


@pytest.mark.parametrize(("stated", "said"), [
    (None, "; training data of the weights not stated)"), ([], "; weights trained on no dataset)"), (["msmarco", "nq"], "; weights trained on msmarco, nq)"),
])  # fmt: skip
def test_the_description_says_it_and_what_is_unknown(stated, said):
    key = {} if stated is None else {"models/m/trained_on": stated}
    experiment = resolved(key | {"systems/zero": {"model": "m"}})
    assert said in describe(experiment, experiment.systems["zero"])


def card(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text(text)
    return {"models/m/weights": str(folder), "systems/zero": {"model": "m"}}


@pytest.mark.parametrize(("datasets", "known", "said"), [
    ("[ms_marco, mteb/D]", ["d"], "; weights trained on ms_marco, d by their model card)"),
    ("natural-questions", [], "; weights trained on natural-questions by their model card)"),
])  # fmt: skip
def test_a_model_card_beside_the_weights_says_it(tmp_path, datasets, known, said):
    experiment = resolved(card(tmp_path / "w", f"---\nlicense: mit\ndatasets: {datasets}\n---\n# A model\n"))
    zero = experiment.systems["zero"]
    assert datasets_learnt(experiment, zero, "d") == known and not is_unstated(experiment, zero)
    assert said in describe(experiment, zero)
    stated = resolved(card(tmp_path / "w", f"---\ndatasets: {datasets}\n---\n") | {"models/m/trained_on": []})
    assert "; weights trained on no dataset)" in describe(stated, stated.systems["zero"])


@pytest.mark.parametrize("text", [
    "", "# A model\n", "---\nlicense: mit\n---\n", "---\ndatasets: {a: b}\n---\n", "---\n- a\n---\n",
    "---\ndatasets: [null]\n---\n", "---\ndatasets: [true]\n---\n", "---\ndatasets: [[a]]\n---\n", "---\ndatasets:\n---\n",
    "---\na: &a {k: v}\nb: &b {<<: [*a, *a]}\ndatasets: *b\n---\n", "---\ndatasets: [a]\nx: " + "a" * (1 << 18) + "\n---\n",
    "---\ndatasets: []\n---\n", '---\ndatasets: ["a\\u202eb"]\n---\n', "---\ndatasets: [\n---\n", "---\ndatasets: [a]\n", "---\nx: " + "[" * 9999,
])  # fmt: skip
def test_a_card_that_names_none_leaves_it_unknown(tmp_path, text):
    experiment = resolved(card(tmp_path / "w", text))
    zero = experiment.systems["zero"]
    assert is_unstated(experiment, zero) and "; training data of the weights not stated)" in describe(experiment, zero)


def test_a_card_among_the_downloads_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "results/downloads").mkdir(parents=True)
    card(tmp_path / "results/downloads/org-m", "---\ndatasets: [d]\n---\n")
    experiment = resolved({"systems/zero": {"model": "m"}})
    assert datasets_learnt(experiment, experiment.systems["zero"], "d") == ["d"]


def test_a_comparison_names_those_whose_training_data_nobody_states():
    experiment = resolved({"systems/zero": {"model": "m"}, "comparisons/z": {"control": "zero", "treatment": "tuned"}})
    marks = forest.known(experiment, "z")["marks"]
    assert marks["trained"] == {"tuned": ["d"]} and list(marks["unstated"]) == ["zero", "tuned"]
    assert "unstated" not in forest.known(resolved(PUBLISHED), "c")["marks"]


def test_no_training_encoding_or_ranking_is_made_again():
    before, after = resolved({}), resolved(PUBLISHED)
    assert planning.training_settings(before, "m", "r", "1") == planning.training_settings(after, "m", "r", "1")
    assert inference.encoding_settings(before, "d", "m") == inference.encoding_settings(after, "d", "m")
    rankings = [inference.ranking_settings(one, "runs/d", "tuned", "1") for one in (before, after)]
    assert rankings[0] == rankings[1]


def test_a_name_that_was_meant_for_a_dataset_here_is_refused():
    with pytest.raises(
        UserError,
        match=r"^c\.yaml: models\.m\.trained_on\[0\]: 'D' is not a dataset of this configuration \(did you mean 'd'\?\)$",
    ):
        resolved({"models/m/trained_on": ["D"]})


OTHER = {"datasets/e": {"format": "beir", "location": "scripts"}}
