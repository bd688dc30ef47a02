"""What the repository promises about itself: rules with environments, files that a reader can find."""

import ast
import re
import sys
from pathlib import Path

from tests.support.sources import our_sources

REPOSITORY = Path(__file__).parents[2]
SCRIPTS = [path for path in our_sources() if path.name != "__init__.py"]


def rules():
    for path in sorted((REPOSITORY / "rules").rglob("*.smk")):
        for block in re.split(r"\n(?=(?:use )?rule )", path.read_text())[1:]:
            yield path.name, re.match(r"(?:use )?rule (?:\w+ as )?(\w+)", block)[1], block


RULES = list(rules())


def test_rules_name_their_environment_and_keep_one_order_of_directives():
    order = [
        "input",
        "output",
        "log",
        "threads",
        "resources",
        "wildcard_constraints",
        "params",
        "conda",
        "message",
        "shell",
    ]
    for _, name, block in RULES:
        found = re.findall(r"^    (\w+):", block.split("\n\n\n")[0], re.MULTILINE)
        assert found == sorted(found, key=order.index), name
        if found != ["input"]:  # which names what is made, and runs nothing
            assert "conda" in found or block.startswith("use rule"), name
        assert not re.search(r"^    run:|\bconfig\[", block, re.MULTILINE), name


def names_of(path):
    """The names that a rule file defines or imports."""
    text = path.read_text()
    imported = re.findall(r"^(?:from [\w.]+ )?import (.+)$", text, re.MULTILINE)
    named = {part.split(" as ")[-1].strip() for line in imported for part in line.split(",")}
    return (
        named
        | set(re.findall(r"^def (\w+)", text, re.MULTILINE))
        | set(re.findall(r"^([A-Z_]+) =", text, re.MULTILINE))
    )


def names_used(path):
    """The names that a rule file uses: not those of attributes, arguments and rules, nor words of texts and comments."""
    text = re.sub(r'(?s)""".*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', " ", path.read_text())
    text = re.sub(r"(?m)^(?:use )?rule .*:|^    \w+,$", " ", text)
    return set(re.findall(r"(?<![\w.])\w+\b(?!\s*(?:=(?!=)|:))", text))


def test_no_rule_file_leans_on_names_of_another():
    """But for those that start.smk, common.smk and jobs.smk give to all, by their docstrings."""
    paths = sorted((REPOSITORY / "rules").rglob("*.smk"))
    for_all = [path for path in paths if path.name in ("start.smk", "common.smk", "jobs.smk")]
    given = set(re.findall(r"\w+", "".join(path.read_text().split('"""')[1] for path in for_all)))
    names = {path: names_of(path) for path in paths}
    for path in [path for path in paths if path not in for_all]:
        others = set().union(
            *(names[other] - (given if other in for_all else set()) for other in paths if other != path)
        )
        assert (others - names[path]) & names_used(path) == set(), path.name


def test_no_module_hides_one_of_the_standard_library():
    """A script's own folder comes first on Python's path, so `statistics.py` beside it would be taken for Python's."""
    assert [path for path in SCRIPTS if path.stem in sys.stdlib_module_names] == []


READERS_OF_YAML = {
    "common/strict_yaml.py",
    "bm25/references.py",  # files of the installed Pyserini
    "archive/write.py",  # the repository's own CITATION.cff
}


def test_yaml_from_outside_has_one_reader():
    reads = re.compile(r"\b(yaml\.(safe_)?load|SafeLoader|BaseLoader|yaml\.compose|metadata_load|RepoCard|ModelCard)\b")
    found = {"/".join(path.relative_to(REPOSITORY).parts[1:]) for path in SCRIPTS if reads.search(path.read_text())}
    assert found == READERS_OF_YAML


def lines_of_code(text):
    """The number of lines of a module without blank ones, comments and docstrings."""
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    said = [
        node.body[0] for node in ast.walk(ast.parse(text)) if isinstance(node, described) and ast.get_docstring(node)
    ]
    docstrings = {line for one in said for line in range(one.lineno, one.end_lineno + 1)}
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and line.lstrip()[0] != "#" and number not in docstrings for number, line in lines)


def test_files_stay_within_what_one_idea_takes_and_open_with_what_they_are_for():
    for path in SCRIPTS:
        text = path.read_text()
        assert text.startswith('"""'), path
        assert lines_of_code(text) <= 500, path
    for path in [*(REPOSITORY / "rules").rglob("*.smk"), REPOSITORY / "Snakefile"]:
        text = path.read_text()
        assert text.startswith('"""'), path
        assert len(text.splitlines()) <= (45 if path.name == "Snakefile" else 135), path
