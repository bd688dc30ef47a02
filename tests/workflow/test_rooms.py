"""The rooms of ranktrial/ and scripts/: what may import what, and no circle anywhere. docs/architecture.md draws them."""

import ast
import copy
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from ranktrial.experiment.resolution import resolve
from scripts.inference import planning as inference
from scripts.reports import sections
from scripts.training import planning as training
from tests.experiment.test_config import changed
from tests.support.sources import PACKAGES

REPOSITORY = Path(__file__).parents[2]
# From the ground up: a room imports from itself and from those above its line in this list, and from nothing else of ours.
# A room inside a room has a line of its own where others than its outer room need it.
ROOMS = [
    "common",
    "statistics",
    "ir",
    "records",
    "models",
    "engine",
    "datasets.formats",
    "synthesis.moderators",
    "features.families",
    "inference.indices",
    "learning_to_rank.learners",
    "configuration",
    "experiment",
    "datasets",
    "bm25",
    "features",
    "inference.candidates",
    "inference.pairs",
    "inference.vectors",
    "inference.ranked",
    "training",
    "inference",
    "selection",
    "fusion",
    "command",
    "learning_to_rank",
    "evaluation",
    "synthesis",
    "study_design",
    "explorer",
    "reports.writing",
    "reports.comparison",
    "reports.transfer_studies",
    "reports.figures",
    "reports.contents",
    "reports.planning",
    "reports",
    "archive",
    "new",
    "api",
]
# Rooms of a stage that other stages import from.
SHARED = ("datasets.formats", "inference.candidates", "inference.ranked", "reports.writing")
STAGES = ("datasets", "bm25", "features", "training", "inference", "selection", "fusion", "command",
          "learning_to_rank", "evaluation", "synthesis", "study_design", "explorer", "reports", "archive")  # fmt: skip
WITHOUT_TORCH = (
    "common",
    "ir",
    "engine",
    "statistics",
    "configuration",
    "experiment",
)  # they are imported when the workflow is planned


def module(path: Path) -> str:
    return str(path.relative_to(REPOSITORY).with_suffix("")).replace("/", ".").removesuffix(".__init__")


MODULES = {module(path): path for name in PACKAGES for path in sorted((REPOSITORY / name).rglob("*.py"))}


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


@cache
def imports() -> dict[str, list[str]]:
    """The modules that each module imports."""
    return {name: sorted(set(imported(path))) for name, path in MODULES.items()}


def room(name: str) -> str:
    """The room of a module: the longest line of ROOMS that it lies in."""
    inside = name.partition(".")[2]
    return max((one for one in ROOMS if f"{inside}.".startswith(f"{one}.")), key=len, default="")


def ours(name: str) -> bool:
    return name.partition(".")[0] in PACKAGES


def inner(name: str, folder: str) -> bool:
    return f"{name}.".startswith(f"{folder}.")


def wrong_imports(name: str) -> Iterator[str]:
    """What a module imports from a room above its own, or from another stage."""
    own = room(name)
    if not own:
        yield f"{name}: a room that ROOMS does not name"
    for other in imports()[name] if own else []:
        if ours(other):
            if ROOMS.index(room(other)) > ROOMS.index(own):
                yield f"{name} imports {other}, of a room above it"
            stages = {one for one in STAGES if inner(own, one) or inner(room(other), one)}
            asked = (
                inner(name, "scripts.reports.sections") or name == "scripts.reports.planning"
            )  # for files of their stages
            if len(stages) > 1 and room(other) not in SHARED and not (asked and other.endswith(".planning")):
                yield f"{name} imports {other}, of another stage"


def test_modules_import_from_their_room_and_those_below():
    assert [problem for name in MODULES if name not in PACKAGES for problem in wrong_imports(name)] == []


def test_the_library_imports_nothing_of_the_scripts():
    assert [
        (name, other)
        for name in MODULES
        if inner(name, "ranktrial")
        for other in imports()[name]
        if inner(other, "scripts")
    ] == []


def test_no_import_goes_in_a_circle():
    open_ones: list[str] = []
    done: set[str] = set()

    def visit(name: str) -> None:
        assert name not in open_ones, " -> ".join([*open_ones[open_ones.index(name) :], name])
        if name not in done:
            open_ones.append(name)
            for other in imports()[name]:
                if other in MODULES and other != name:
                    visit(other)
            open_ones.pop()
            done.add(name)

    for name in MODULES:
        visit(name)


def test_what_plans_the_workflow_needs_no_torch():
    heavy = {"torch", "transformers", "sentence_transformers", "matplotlib", "onnxruntime"}
    for name in [name for name in MODULES if room(name) in WITHOUT_TORCH]:
        assert not heavy & {other.partition(".")[0] for other in imports()[name]}, name


PLANNING = [name for name in MODULES if ".planning" in name]


def plans(other: str) -> bool:
    """Whether a module is one that plans the workflow or declares keys, or of the standard library."""
    if ours(other):
        named = other in PLANNING or other.endswith(
            ("_keys", "_settings", ".measure_names")
        )  # records of keys and of jobs
        return room(other) in ("common", "engine", "configuration", "experiment") or named
    return other.partition(".")[0] in sys.stdlib_module_names


def test_planning_imports_the_standard_library_and_what_plans_the_workflow():
    """Rule files import it each time that the workflow is planned, on a cluster in every job."""
    assert [(name, other) for name in PLANNING for other in imports()[name] if not plans(other)] == []


def test_planning_loads_nothing_that_computes():
    """pandas is there already: ir-measures, which knows the names of measures, loads it."""
    heavy = {"torch", "transformers", "sentence_transformers", "matplotlib", "onnxruntime", "scipy.special",
             "lightgbm", "xgboost", "sklearn"}  # fmt: skip
    sections = [name for name in MODULES if inner(name, "scripts.reports.sections")]
    code = f"import sys, {', '.join([*PLANNING, *sections])}; print(*sorted({heavy} & sys.modules.keys()))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert len(PLANNING) > 7 and len(sections) > 7 and loaded.stdout.split() == []


def test_the_drawing_shows_the_rooms_as_they_are():
    from tests.support.architecture import DRAWING, draw, edges, labels

    assert DRAWING.read_text(encoding="utf-8") == draw(), "make architecture draws it anew"
    assert len(labels()) > 10 and ("archive", "engine") in edges()


def rooms_entered(walk: Callable[[], object]) -> set[str]:
    """The rooms whose functions a call runs."""
    entered: set[str] = set()

    def enter(frame, event, _):
        if event == "call":
            entered.add(frame.f_globals.get("__name__", ""))

    sys.setprofile(enter)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return {room(name) for name in entered if ours(name)}


def test_a_value_walks_through_few_rooms():
    """From a configuration to the settings of its jobs: a reader follows a key through at most so many rooms."""
    config = changed(
        {
            "features": {"f": {"first_stage": "bm25", "of": ["BM25"]}},
            "systems/learnt": {"type": "learning-to-rank", "features": "f", "learner": "linear"},
            "systems/fused": {"type": "fusion", "systems": ["bm25", "learnt"]},
            "systems/codes": {"model": "m", "embeddings": {"precision": "int8"}},
            "recipes/r/evaluate": {},
        }
    )
    experiment = resolve(copy.deepcopy(config), "c.yaml")
    for name in MODULES:
        if inner(name, "scripts.reports.sections"):
            import_module(name)  # loading a section is no step of the walk
    walks = {
        "resolution": lambda: resolve(config, "c.yaml"),
        "report": lambda: sections.settings(experiment),
        "training": lambda: training.training_settings(experiment, "m", "r", "1"),
        "ranking": lambda: inference.ranking_settings(experiment, "runs/d", "codes", "0"),
    }
    most = {"resolution": 12, "report": 12, "training": 4, "ranking": 4}
    entered = {name: rooms_entered(walk) for name, walk in walks.items()}
    assert {name: sorted(rooms) for name, rooms in entered.items() if len(rooms) > most[name]} == {}
