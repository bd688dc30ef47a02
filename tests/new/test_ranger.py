"""A folder that Ranger compares becomes a configuration by the toolkit's own config.yaml."""

import pytest

from ranktrial.common.errors import UserError
from tests.new import folders
from tests.new.test_front import configuration, drafted, here  # noqa: F401
from tests.support.one_line import refused

VALUES = """eval_metrics:
 bert:
    'rte': './glue/bert/rte_accuracy.txt'
    'sst2': './glue/bert/sst2_accuracy.txt'
 distilbert:
    'rte': './glue/distilbert/rte_accuracy.txt'
    'sst2': './glue/distilbert/sst2_accuracy.txt'
display_names:
    'rte': 'RTE'
    'sst2': 'SST-2'
"""
RUNS = """qrels:
    'covid': './data/covid_qrels.txt'
    'news': './data/news_qrels.txt'
    'unranked': './data/gone.txt'
available_rankings:
 tasb:
    'covid': './data/bm25/covid_top4.txt'
    'news': './data/bm25/news_top4.txt'
 colberter:
    'news': './data/dense/news_top4.txt'
    'covid': './data/dense/covid_top4.txt'
display_names: {'news': 'news', 'covid': 'TREC Covid'}
"""


def glue(folder, text=VALUES):
    values = {
        f"{system}/{task}_accuracy.txt": "1\n0\n1\n" for system in ("bert", "distilbert") for task in ("rte", "sst2")
    }
    values["distilbert/rte_accuracy.txt"] = "0\n0\n1\n"
    return folders.write(folder, {**values, "config.yaml": text})


def retrieval(folder, text=RUNS):
    return folders.write(folders.runs(folder), {"config.yaml": text})


def test_files_of_values_become_scores_with_labels_and_the_measure_of_their_names(here):  # noqa: F811
    glue(here / "data")
    found = configuration()
    assert found["datasets"]["sst2"] == {"format": "scores", "measure": "accuracy", "label": "SST-2"}
    assert found["systems"]["bert"]["scores"] == {
        "rte": "data/bert/rte_accuracy.txt",
        "sst2": "data/bert/sst2_accuracy.txt",
    }
    assert found["comparisons"]["against-bert"]["treatment"] == "distilbert" and found["tasks"] == ["rte", "sst2"]
    assert "Left out" not in drafted() and "docs/coming-from.md, Ranger" in drafted()
    assert configuration(measure="acc")["datasets"]["rte"]["measure"] == "acc"


def test_runs_have_the_judgements_that_it_names_and_are_called_as_there(here):  # noqa: F811
    retrieval(here / "data")
    found = configuration()
    assert found["tasks"] == list(found["datasets"]) == ["news", "covid"]
    assert found["datasets"]["covid"]["label"] == "TREC Covid"
    assert found["datasets"]["news"]["location"] == "data/news_qrels.txt" and "label" not in found["datasets"]["news"]
    assert found["systems"]["colberter"]["runs"]["covid"] == "data/dense/covid_top4.txt"
    assert found["comparisons"] == {"against-tasb": {"control": "tasb", "treatment": "colberter"}}
    retrieval(here / "data", RUNS.replace("'news': 'news', ", ""))
    assert configuration()["tasks"] == ["covid"] and "Left out: bm25/news_top4.txt, dense/news_top4.txt" in drafted()


@pytest.mark.parametrize(
    ("write", "text", "said"),
    [
        (glue, VALUES.replace("bert/rte_", "bert/qqp_"), "data/config.yaml: eval_metrics.bert.rte: data has no file './glue/bert/qqp_accuracy.txt'"),
        (glue, "eval_metrics: [bert]\n", "data/config.yaml: eval_metrics: expected a mapping of at least one name"),
        (glue, "eval_metrics: {bert: {}}\n", "data/config.yaml: eval_metrics.bert: expected a mapping"),
        (glue, "eval_metrics: {a b: {}, a-b: {}}\n", "data/config.yaml: eval_metrics: two names are the same but for signs"),
        (retrieval, RUNS.replace("'news': './data/news_qrels.txt'", "'other': 'x'"), "data/config.yaml: qrels: no file of the task 'news', which has runs"),
        (retrieval, "available_rankings:\n  a: {b: !!python/object:os.system x}\n", "data/config.yaml"),
    ],
)  # fmt: skip
def test_a_mistake_in_it_is_one_line(here, write, text, said):  # noqa: F811
    write(here / "data", text)
    with refused(start=said):
        drafted()


def test_two_of_them_and_another_yaml_file(here):  # noqa: F811
    glue(here / "data")
    folders.write(here / "data", {"other.yaml": "a: [\n"})
    assert "# Left out: other.yaml\n" in drafted()
    folders.write(here / "data", {"z/config.yaml": VALUES})
    with pytest.raises(UserError, match=r"data: config\.yaml and z/config\.yaml are both Ranger's"):
        drafted()
