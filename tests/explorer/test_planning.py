"""What the job of the explorer is given, on a small experiment."""

from ranktrial.common.settings import read_settings
from scripts.explorer import planning
from scripts.explorer.jobs import Settings, compared_systems
from tests.experiment.test_config import resolved

EXPERIMENT = resolved(
    {
        "datasets/judged": {"format": "qrels", "location": "tests"},
        "datasets/scored": {"format": "scores", "measure": "accuracy"},
        "systems/theirs": {"type": "external", "runs": {"judged": "README.md", "d/dev": "Makefile"}},
        "systems/ours": {"type": "external", "runs": {"judged": "CHANGELOG.md", "d/dev": "Snakefile"}},
        "systems/first": {"type": "external", "scores": {"scored": "LICENSE"}},
        "systems/second": {"type": "external", "scores": {"scored": "pyproject.toml"}},
        "systems/bm25/tasks": ["d"],
        "systems/tuned/tasks": ["d"],
        "tasks": ["d", "d/dev", "judged", "scored"],
        "explorer": {"texts": True, "depth": 7, "megabytes": 3},
        "comparisons": {
            "a": {"control": "bm25", "treatment": "tuned", "tasks": ["d"]},
            "b": {"control": "theirs", "treatment": "ours", "tasks": ["d/dev", "judged"]},
            "c": {"control": "first", "treatment": "second", "measure": "accuracy", "tasks": ["scored"]},
        },
    }
)
SETTINGS = read_settings(Settings, planning.explorer_settings(EXPERIMENT))


def test_it_is_asked_where_there_is_something_to_compare():
    assert planning.asked(EXPERIMENT) == ["results/e/explorer"]
    assert planning.asked(resolved({"comparisons": {}})) == []


def test_where_an_archive_without_texts_was_resumed_it_is_asked_once_they_are_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(*names):
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()

    write("results/e/report.html")  # texts and explorer of a finished run were deleted: its job tells what to do
    assert planning.asked(EXPERIMENT) == ["results/e/explorer"]
    write("results/e/left-out.json")
    assert planning.asked(EXPERIMENT) == []
    write(*planning.texts(EXPERIMENT))
    assert planning.asked(EXPERIMENT) == ["results/e/explorer"]


def test_the_configuration_bounds_it():
    assert SETTINGS.order == ["a", "b", "c"] and (SETTINGS.texts, SETTINGS.depth, SETTINGS.megabytes) == (True, 7, 3)


def test_tasks_name_their_texts_and_judgements():
    tasks = SETTINGS.tasks
    assert list(tasks) == ["d", "d-dev", "judged", "scored"]
    assert tasks["d-dev"].corpora == ["results/e/data/d/corpus.jsonl"]
    assert tasks["d-dev"].queries == "results/e/data/d/queries/dev.jsonl"
    assert (tasks["judged"].corpora, tasks["judged"].queries) == ([], "")
    assert tasks["judged"].qrels.endswith("judged/qrels/test.qrels") and tasks["scored"].qrels == ""
    assert planning.statistics(EXPERIMENT) == ["results/e/data/d/statistics.json"]


def test_all_runs_and_values_of_the_compared_tasks_are_read():
    assert len(planning.runs(EXPERIMENT)) == 3 + 2 + 2 and len(planning.metrics(EXPERIMENT)) == 3 + 2 + 2 + 2
    assert compared_systems(SETTINGS, "d") == ["bm25", "tuned"] and compared_systems(SETTINGS, "scored") == [
        "first",
        "second",
    ]
    assert SETTINGS.tasks["scored"].sources["first"].runs == ""
