"""A place that a user gives for output: never the workflow, a link, or a file that another program wrote."""

import ast
import re
from pathlib import Path

import pytest

from ranktrial.api.command import SCRIPTS
from ranktrial.common.errors import UserError
from ranktrial.common.given_places import OF_WORKFLOW, check_file, check_folder, check_new
from tests.support.one_line import refused

REPOSITORY = Path(__file__).parents[2]
CHECKS = {
    "new": check_new,
    "folder": lambda out: check_folder(out, ".list", "comparison"),
    "file": lambda out: check_file(out, "path\tkind", "report", "OUT"),
}


@pytest.fixture
def clone(tmp_path, monkeypatch):
    (tmp_path / "clone").mkdir()
    monkeypatch.chdir(tmp_path / "clone")
    return tmp_path / "clone"


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize(
    "out",
    [".", "..", "/", "../clone", *OF_WORKFLOW, *(f"{name}/x" for name in OF_WORKFLOW), "results/x/models/m/r/seed-1/y"],
)
def test_no_place_is_one_of_the_workflow(clone, check, out):
    for place in (Path(out), clone / out):
        with refused("is a folder of the workflow; give another OUT"):
            check(place)


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_no_way_around_leads_there(clone, check):
    (clone / "results/x").mkdir(parents=True)
    (clone / "way").symlink_to("results/x")
    for out in ("way", "way/y", "config/../results/y", f"../{clone.name}/results/y"):
        with pytest.raises(UserError, match="give another OUT"):
            check(Path(out))
    (clone / "results").rename(clone.parent / "disk")
    (clone / "results").symlink_to(clone.parent / "disk")
    with pytest.raises(UserError, match="is a folder of the workflow"):
        check(clone.parent / "disk/y")


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_link_is_refused_and_a_new_place_taken(clone, check):
    Path("nowhere").symlink_to("gone")
    with pytest.raises(UserError, match="is a link"):
        check(Path("nowhere"))
    with pytest.raises(UserError, match="cannot be printed"):
        check(Path("a\nb"))
    for out in ("out", "a/b/out", str(clone.parent / "out"), "-out", "results-of-mine"):
        check(Path(out))


def test_what_is_there_is_not_replaced_unless_it_was_made_so(clone):
    Path("file").write_text("path\tkind\nx\ty\n")
    Path("folder").mkdir()
    Path("folder/.list").write_text(".list\nmade\n")
    Path("folder/made").touch()
    for out in ("file", "folder"):
        with pytest.raises(UserError, match="exists already; give another OUT"):
            check_new(Path(out))
    check_folder(Path("folder"), ".list", "comparison")
    check_file(Path("file"), "path\tkind", "report", "REPORT")
    Path("file").write_text("path\tkind of thing\n")
    for out in ("file", "folder"):
        with refused(f"{out}: exists and is not an earlier report; give another REPORT"):
            check_file(Path(out), "path\tkind", "report", "REPORT")


def test_every_command_with_such_an_option_checks_it():
    """Outputs of jobs are named by rules; those of commands in the Makefile by people."""
    named = re.findall(r"\$\(RANKTRIAL\) (\S+) .*[ ,]--(?:out|report)=", (REPOSITORY / "Makefile").read_text())
    assert len(named) >= 4
    for command in named:
        script = f"scripts.{SCRIPTS[command][0]}" if command in SCRIPTS else f"ranktrial.{command}.front"
        tree = ast.parse((REPOSITORY / f"{script.replace('.', '/')}.py").read_text())
        calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        assert {"check_new", "check_folder", "check_file"} & {call.id for call in calls if isinstance(call, ast.Name)}
