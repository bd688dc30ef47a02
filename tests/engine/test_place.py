"""How rules name the workflow's own files: relative in a clone, findable where another workflow takes it as a module."""

from pathlib import Path

from scripts.engine.place import path_to_repository

CLONE = Path("/home/me/ranktrial")


def test_in_a_clone_they_are_relative_wherever_a_plan_is_made():
    assert path_to_repository(CLONE, CLONE / "Snakefile", CLONE) == ""
    assert path_to_repository(CLONE, CLONE / "Snakefile", Path("/tmp/verify")) == ""
    assert path_to_repository(CLONE, CLONE / "workflow/Snakefile", CLONE) == ""


def test_as_a_module_they_are_named_from_the_folder_of_the_other_workflow_or_in_full():
    assert path_to_repository(CLONE, Path("/home/me/Snakefile"), Path("/home/me")) == "ranktrial"
    assert path_to_repository(CLONE, Path("/home/me/paper/Snakefile"), Path("/home/me/paper")) == str(CLONE)
