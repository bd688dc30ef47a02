"""How rules name the workflow's own files: relative in a clone, findable from any other working folder."""

from ranktrial.engine.place import as_module, path_to_repository


def test_in_a_clone_and_where_its_scripts_are_linked_they_are_relative(tmp_path):
    clone, elsewhere = tmp_path / "ranktrial", tmp_path / "verify"
    (clone / "scripts").mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "scripts").symlink_to(clone / "scripts")
    assert path_to_repository(clone, clone) == path_to_repository(clone, elsewhere) == ""
    assert not as_module(clone, clone / "workflow/Snakefile", clone) and not as_module(
        clone, clone / "Snakefile", elsewhere
    )


def test_in_another_folder_they_are_named_from_there_or_in_full(tmp_path):
    clone = tmp_path / "paper" / "ranktrial"
    (clone / "scripts").mkdir(parents=True)
    assert path_to_repository(clone, tmp_path / "paper") == "ranktrial"
    assert path_to_repository(clone, tmp_path) == "paper/ranktrial"
    assert path_to_repository(clone, clone / "results") == str(clone)
    assert as_module(clone, tmp_path / "paper/Snakefile", tmp_path / "paper")
