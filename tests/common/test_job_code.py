"""The code of a job: what the script and all modules behind it mean, and what an archive finds by it."""

import json
import sys
from importlib.machinery import ModuleSpec

import pytest

from ranktrial.common import job_code
from ranktrial.common.job_code import edited, is_code, modules_behind, noted

FILES = {
    "scripts/stage/run.py": '"""Runs."""\nfrom ranktrial.common.a import a\n',
    "ranktrial/common/a.py": "a = 1\n",
    "ranktrial/kinds/one.py": "one = 1\n",
    "ranktrial/kinds/two.py": "two = 2\n",
}


def forget():
    for remembered in (job_code.source, job_code.packages, job_code.behind, job_code.code_digest):
        remembered.cache_clear()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A repository of a few files; the function writes others."""

    def write(**changes):
        for name, text in (FILES | {name.replace("__", "/") + ".py": text for name, text in changes.items()}).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        forget()

    monkeypatch.setattr(job_code, "own_file", tmp_path.joinpath)
    write()
    yield write
    forget()


def code(*loads):
    return job_code.job_code("stage/run.py", *loads)


def test_the_code_of_a_job_is_what_is_behind_its_script(sources):
    before = code()
    assert before["module"] == "scripts.stage.run" and before["loads"] == []
    assert modules_behind(before) == ("ranktrial/common/a.py", "scripts/stage/run.py")
    for unrelated in (
        {"ranktrial__kinds__one": "one = 9\n"},
        {"ranktrial__common__a": '"""A number."""\n\na = (1)  # of one\n'},
    ):
        sources(**unrelated)
        assert code() == before
    for other in (
        {"ranktrial__common__a": "a = 2\n"},
        {"scripts__stage__run": "from ranktrial.common.a import a\na\n"},
    ):
        sources(**other)
        assert code() != before and modules_behind(before) == ()


def test_what_is_loaded_by_name_counts_and_its_order_does_not(sources):
    both = code("ranktrial/kinds/two.py", "ranktrial/kinds/one.py")
    assert both == code(*["ranktrial/kinds/one.py", "ranktrial/kinds/two.py"] * 2) != code("ranktrial/kinds/one.py")
    assert "ranktrial/kinds/two.py" in modules_behind(both)


def test_the_same_text_under_another_name_is_other_code(sources):
    assert code("ranktrial/kinds/one.py")["digest"] != code("ranktrial/kinds/two.py")["digest"]
    sources(ranktrial__kinds__two="one = 1\n")
    assert code("ranktrial/kinds/one.py")["digest"] != code("ranktrial/kinds/two.py")["digest"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("module", "scripts.gone.run"), ("loads", ["kinds/gone.py"]), ("digest", "x"), ("module", "scripts.x\0")],
)
def test_code_that_is_not_there_has_no_modules(sources, name, value):
    assert modules_behind(code() | {name: value}) == ()


def test_a_module_that_python_cannot_read_is_other_code(sources):
    before = code()
    sources(ranktrial__common__a="a = (\n")
    assert modules_behind(before) == ()


@pytest.mark.parametrize("changes", [{"loads": "x"}, {"loads": [1]}, {"module": None}, {"digest": 5}, {"more": "x"}])
def test_other_parameters_are_no_code(sources, changes):
    assert is_code(code()) and not is_code(code() | changes)
    assert not is_code("scripts/stage/run.py") and not is_code({"module": "scripts.stage.run"})


def test_code_that_means_something_else_than_when_the_run_began_is_named(sources, tmp_path, monkeypatch):
    note = tmp_path / "note"
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", ModuleSpec("scripts.stage.run", None))
    assert edited(note) is None  # no run noted anything
    note.write_text(json.dumps(noted([code("ranktrial/kinds/one.py")])))
    assert edited(note) is None
    for same in ({"ranktrial__kinds__two": "two = 9\n"}, {"ranktrial__common__a": "a = (1)  # of one\n"}):
        sources(**same)
        assert edited(note) is None
    for other in ("ranktrial__common__a", "ranktrial__kinds__one"):
        for text in ("a = 9\n", "a = (\n"):
            sources(**{other: text})
            assert edited(note) == f"{other.replace('__', '/')}.py"
    sources()
    assert edited(note) is None
    (tmp_path / "scripts/stage/run.py").unlink()
    assert edited(note) == "scripts/stage/run.py"
