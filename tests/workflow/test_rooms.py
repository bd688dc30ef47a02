"""The rooms of scripts/: what may import what, and no circle anywhere. docs/architecture.md draws them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
# From the ground up: a room imports from itself and from those above its line in this list, and from nothing else of ours.
# A room inside a room has a line of its own where others than its outer room need it.
ROOMS = [
    "common",
    "ir",
    "models",
    "engine",
    "datasets.formats",
    "synthesis.effects",
    "experiment",
    "datasets",
    "bm25",
    "training",
    "inference",
    "selection",
    "fusion",
    "evaluation",
    "synthesis",
    "reports.writing",
    "reports.comparison",
    "reports.figures",
    "reports.published_numbers",
    "reports.page",
    "reports",
    "archive.crate",
    "archive.provenance",
    "archive.checking",
    "archive",
]
STAGES = (
    "datasets",
    "bm25",
    "training",
    "inference",
    "selection",
    "fusion",
    "evaluation",
    "synthesis",
    "reports",
    "archive",
)
WITHOUT_TORCH = ("common", "ir", "engine", "experiment")  # they are imported when the workflow is planned


def module(path: Path) -> str:
    return str(path.relative_to(REPOSITORY).with_suffix("")).replace("/", ".").removesuffix(".__init__")


MODULES = {module(path): path for path in sorted((REPOSITORY / "scripts").rglob("*.py"))}


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import, which no rerun would notice"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


IMPORTS = {name: sorted(set(imported(path))) for name, path in MODULES.items()}


def room(name: str) -> str:
    """The room of a module: the longest line of ROOMS that it lies in."""
    inside = name.removeprefix("scripts.")
    return max((one for one in ROOMS if f"{inside}.".startswith(f"{one}.")), key=len, default="")


def inner(name: str, folder: str) -> bool:
    return f"{name}.".startswith(f"{folder}.")


@pytest.mark.parametrize("name", [name for name in MODULES if name != "scripts"])
def test_a_module_imports_from_its_room_and_those_below(name):
    own = room(name)
    assert own, "a room that ROOMS does not name"
    for other in IMPORTS[name]:
        if other.startswith("scripts."):
            assert ROOMS.index(room(other)) <= ROOMS.index(own), f"{own} imports {other}, of a room above it"
            stages = {one for one in STAGES if inner(own, one)} | {one for one in STAGES if inner(room(other), one)}
            shared = room(other) in ("datasets.formats", "synthesis.effects")
            assert len(stages) < 2 or shared, f"stage {own} imports {other}, of another stage"


def test_no_import_goes_in_a_circle():
    open_ones: list[str] = []
    done: set[str] = set()

    def visit(name: str) -> None:
        assert name not in open_ones, " -> ".join([*open_ones[open_ones.index(name) :], name])
        if name not in done:
            open_ones.append(name)
            for other in IMPORTS[name]:
                if other in MODULES and other != name:
                    visit(other)
            open_ones.pop()
            done.add(name)

    for name in MODULES:
        visit(name)


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) in WITHOUT_TORCH])
def test_what_plans_the_workflow_needs_no_torch(name):
    heavy = {"torch", "transformers", "sentence_transformers", "matplotlib", "onnxruntime"}
    assert not heavy & {other.partition(".")[0] for other in IMPORTS[name]}
