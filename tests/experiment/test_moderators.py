"""Moderators in a configuration: what is accepted, and what each mistake says, in the configuration or in a user's TSV."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.configuration.schema import entry_of, schema
from ranktrial.experiment.comparisons import statistics_of
from ranktrial.experiment.records import Moderator
from ranktrial.synthesis.moderators import MODERATORS
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import refused

FOLDERS = {"d": "tests", "e": "scripts", "f": "rules", "g": "docs"}
DATASETS = {f"datasets/{name}": {"format": "beir", "location": folder} for name, folder in FOLDERS.items()}
TABLE = "task\tyear\tkind\nd\t2019\tnews\ne\t2.5e3\tnews\nf\t-1\tweb\ng\t0\tweb\nother\t\t\n"


def resolved(changes: dict, **others):
    of_comparison = {f"comparisons/c/{key}": value for key, value in changes.items()}
    return of_base(DATASETS | {"tasks": list(FOLDERS)} | of_comparison | others)


@pytest.fixture
def table(tmp_path):
    def write(text: str = TABLE) -> str:
        (tmp_path / "m.tsv").write_text(text)
        return str(tmp_path / "m.tsv")

    return write


def test_the_schema_names_all_moderators():
    (known, own) = entry_of(schema(), "comparisons")["properties"]["subgroups"]["anyOf"]
    assert known["enum"] == list(MODERATORS) and own["required"] == ["file", "column"]


def test_what_is_known_of_tasks_and_columns_of_a_file_are_moderators(table):
    file = table()
    asked = ["corpus-size", {"file": file, "column": "year"}, {"file": file, "column": "kind", "label": "Kind of text"}]
    comparison = resolved({"moderators": asked, "subgroups": {"file": file, "column": "year"}}).comparisons["c"]
    assert comparison.moderators == (
        Moderator("corpus-size", "Documents (log₁₀)"),
        Moderator("year", "year", {"d": 2019.0, "e": 2500.0, "f": -1.0, "g": 0.0}),
        Moderator("kind", "Kind of text", {"d": "news", "e": "news", "f": "web", "g": "web"}),
    )
    assert comparison.subgroups == Moderator("year", "year", {"d": "2019", "e": "2.5e3", "f": "-1", "g": "0"})
    assert not {"moderators", "subgroups"} & statistics_of(comparison).keys()  # the effects do not depend on them


def test_a_comparison_without_moderators_has_the_settings_of_before():
    with_one, without = (resolved(changes).comparisons["c"] for changes in ({"moderators": ["trained"]}, {}))
    assert statistics_of(with_one) == statistics_of(without)


EXTERNAL = {
    name: {"type": "external", "runs": dict.fromkeys(FOLDERS, file)}
    for name, file in (("bm25", "README.md"), ("tuned", "LICENSE"))
}
QRELS = {f"datasets/{name}": {"format": "qrels", "location": folder} for name, folder in FOLDERS.items()}
MISTAKES = {
    "unknown moderator": ({"moderators": ["size"]}, "c.yaml: comparisons.c.moderators[1]: 'size' is text; expected one of corpus-size, "),
    "moderator twice": ({"moderators": ["trained", "trained"]}, "c.yaml: comparisons.c.moderators: duplicate entry 'trained'"),
    "no measure Judged": ({"moderators": ["judged-gap"]}, "comparisons.c.moderators: judged-gap: task 'd' has no measure Judged@k; list it in measures",
                          {"measures": ["nDCG@10"]}),
    "judgements alone have no documents": ({"moderators": ["corpus-size"]}, "corpus-size: task 'd' has no documents and queries",
                                           QRELS | {"systems": EXTERNAL, "recipes": {}}),
    "numbers make no groups": ({"subgroups": "corpus-size"}, "c.yaml: comparisons.c.subgroups: corpus-size is a number, which forms no groups"),
    "too few tasks": ({"moderators": ["trained"], "tasks": ["d", "e", "f"]}, "c.yaml: comparisons.c.moderators: 3 tasks are too few; a moderator needs at least 4"),
    "too few tasks for groups": ({"subgroups": "trained", "tasks": ["d", "e", "f"]}, "c.yaml: comparisons.c.subgroups: 3 tasks are too few"),
    "no such file": ({"moderators": [{"file": "none.tsv", "column": "x"}]}, "c.yaml: comparisons.c.moderators: no file 'none.tsv'"),
    "column is missing": ({"moderators": [{"file": "none.tsv"}]}, "c.yaml: comparisons.c.moderators[1]: key 'column' is missing"),
    "name of a figure": ({}, "names that begin with 'bubble-' are reserved for the bubble plots",
                         {"comparisons": {"bubble-x": {"control": "bm25", "treatment": "tuned"}}}),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line(name):
    changes, message, *others = MISTAKES[name]
    with refused(message):
        resolved(changes, **(others[0] if others else {}))


def test_two_bubble_plots_of_one_name_are_refused(table):
    file = table("task\tx-year\tyear\n" + "".join(f"{task}\t1\t1\n" for task in FOLDERS))
    systems = {"control": "bm25", "treatment": "tuned"}
    comparisons = {
        "c": systems | {"moderators": [{"file": file, "column": "x-year"}]},
        "c-x": systems | {"moderators": [{"file": file, "column": "year"}]},
    }
    with pytest.raises(UserError, match=r"comparisons.c-x.moderators: .* the name of one of c: 'bubble-c-x-year'"):
        resolved({}, comparisons=comparisons)


def test_an_estimator_without_residual_tau2_is_refused(monkeypatch):
    monkeypatch.setattr("ranktrial.experiment.moderators.takes_moderators", lambda name: False)
    with pytest.raises(UserError, match=r"estimator [A-Z]+ has no residual_tau2, which moderators need"):
        resolved({"moderators": ["trained"]})


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", "year", "expected a heading: task, then names of columns"),
        ("name\tyear\nd\t1\n", "year", "expected a heading: task, then names of columns"),
        (TABLE, "size", "no column 'size'; its columns are year, kind"),
        (TABLE, "task", "no column 'task'"),
        ("task\tyear\tyear\nd\t1\t2\n", "year", "two columns 'year'"),
        ("task\tyear\nd\t1\t2\n", "year", "m.tsv:2: 3 columns; expected 2, as the heading has"),
        ("task\tyear\nd\t1\nd\t2\n", "year", "m.tsv:3: task 'd' is listed twice"),
        ("task\tyear\nd\t1\ne\t1\nf\t1\n", "year", "no row for task 'g'"),
        (TABLE.replace("\t0\t", "\t\t"), "year", "task 'g' has no value in column 'year'"),
        (TABLE.replace("\t0\t", "\tNA\t"), "year", "column 'year' has numbers and words, such as 'NA' for task 'g'"),
        (TABLE.replace("\t0\t", "\tinf\t"), "year", "has numbers and words, such as 'inf' for task 'g'"),
    ],
)
def test_a_mistake_in_a_file_names_it_and_what_is_wrong(table, text, column, problem):
    with refused("m.tsv", problem):
        resolved({"moderators": [{"file": table(text), "column": column}]})
