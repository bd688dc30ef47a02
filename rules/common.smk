"""What all rules share: the resolved experiment, paths under results/, the sources a job depends on, its settings."""

import ast
import json
import locale
import os
import re
import shlex
import sys
import time
from functools import cache
from pathlib import Path

sys.path.insert(0, workflow.basedir)
from scripts.experiment.bm25_settings import PYSERINI_BM25
from scripts.experiment.cautions import cautions
from scripts.experiment.former_words import former_words
from scripts.experiment.records import UNTRAINED
from scripts.experiment.reading import read_yaml
from scripts.engine.downloads import FOLDER as DOWNLOADS
from scripts.engine.downloads import HOW, fetched, forget_how, names, sources
from scripts.common.errors import UserError
from scripts.engine.own_data import OwnData
from scripts.common.paths import why_no_clone
from scripts.engine.repair import repair
from scripts.experiment.resolution import resolve
from scripts.experiment.records import SELECTED
from scripts.engine.slurm import begin_run
from scripts.common.locations import key
from scripts.common.locations import shown as location_shown
from scripts.engine.job_records import adopt

STARTED = time.time()
if reason := why_no_clone(str(workflow.basedir)):
    sys.exit(str(UserError(f"error: {reason}")))
# Jobs find the modules of scripts/ from the repository's root and, without conda, the Python that runs Snakemake.
# A prefix of one's own takes the place of Snakemake's strict mode, so that is said again: a failure counts in a pipe.
# Every log is written by tee. This one first writes where the job ran, for the archive; no job's code changes by it.
WHERE = """tee() (
  (echo "host: $HOSTNAME"; echo "slurm job: $(printenv SLURM_JOB_ID || echo none)"
   echo "driver: $(head -n 1 /proc/driver/nvidia/version 2>/dev/null || echo none)") >"$1"
  command tee -a "$1"
)
"""
shell.prefix(f"set -euo pipefail; export PYTHONPATH={shlex.quote(str(workflow.basedir))}; {WHERE}")
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])

os.environ["PYTHONUTF8"] = "1"  # of jobs; Snakemake itself runs already
if not sys.flags.utf8_mode and locale.getencoding().lower().replace("-", "") != "utf8":
    sys.exit(f"error: Python reads texts as {locale.getencoding()} here, and all of them are UTF-8: set PYTHONUTF8=1")

CONFIG_FILES = [os.path.relpath(path) for path in workflow.configfiles]
try:
    for path in CONFIG_FILES:
        read_yaml(Path(path))
    EXPERIMENT = resolve(config, CONFIG_FILES[-1])
    adopt(Path("results"), Path(".snakemake"))
    for line in repair(Path("results"), EXPERIMENT.name, Path(".snakemake")) if workflow.is_main_process else []:
        print(f"warning: {line}", file=sys.stderr)
    forget_how(Path(".snakemake/metadata"))
except UserError as error:
    sys.exit(f"error: {error}")

CAUTIONS = cautions(EXPERIMENT)
for caution in [*former_words(config), *CAUTIONS] if workflow.is_main_process else []:  # jobs read this file too, and need not repeat it
    print(f"warning: {CONFIG_FILES[-1]}: {caution}", file=sys.stderr)

RESULTS = f"results/{EXPERIMENT.name}"
TASKS = {task.folder: task for task in (EXPERIMENT.tasks | EXPERIMENT.selection_tasks).values()}
SELECTIONS = {s.selection.by: s.selection for s in EXPERIMENT.systems.values() if s.selection}


# Seconds each, little memory, not many: on a cluster they run beside Snakemake, where downloads find a network too.
localrules: check, fetch, fetch_folder, datasets_table, selected_seeds, select_seed, means, compare, comparisons_table,
    tables, published, forest, chart, costs, times, cost_figure, summary,
    report


wildcard_constraints:
    dataset="[^/]+",
    task="[^/]+",
    system="[^/]+",
    model="[^/]+",
    recipe="[^/]+",
    seed="|".join(["[0-9]+", SELECTED, *(re.escape(one.checkpoint) for one in SELECTIONS.values())]),
    split="train|dev|test",
    comparison="[^/]+",


def results(path):
    """A path (pattern) inside the experiment's results."""
    return f"{RESULTS}/{path}"


def shown(path, caption, category, **labels):
    """An output that `snakemake --report` shows, with its caption (rules/captions/) and what tells it from others."""
    return report(path, caption=f"captions/{caption}.rst", category=category, labels=labels)


def settings(**values):
    """A job's settings: one JSON string with sorted keys, so that only a changed value reruns the job.

    Braces in texts (labels, titles) are spelt as JSON allows, since Snakemake would take {them} for wildcards.
    """
    spelt = {"{": "\\u007b", "}": "\\u007d"}
    text = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return re.sub(r'"(?:[^"\\]|\\.)*"', lambda found: re.sub("[{}]", lambda sign: spelt[sign[0]], found[0]), text)


OWN_DATA = OwnData(Path("results/state/own-data"), EXPERIMENT.name, job=workflow.remote_exec)


def sha256_of(**paths):
    """What settings say of the user's own files and folders that a job reads: by the option's name, what they hold now.

    A change of content is planned for whatever its date; the job reads nothing else than what the run began with.
    """
    found = {option: OWN_DATA.sha256(path) for option, path in paths.items() if path}
    return {"sha256_of": {option: one for option, one in found.items() if one}}


def own_data():
    """The user's own files and folders: of datasets, models, external systems and published numbers."""
    places = [dataset.get("location") for dataset in EXPERIMENT.datasets.values()]
    places += [model["weights"] for model in EXPERIMENT.models.values()]
    places += [file for one in EXPERIMENT.systems.values() if one.kind == "external" for file in one.settings.values()]
    places += [(EXPERIMENT.published or {}).get(key) for key in ("file", "mapping")]
    return [place for place in dict.fromkeys(places) if place and os.path.exists(place)]


def one_of(names):
    """A wildcard constraint that allows these names and no other (nothing at all if there are none)."""
    return "|".join(map(re.escape, names)) or "(?!)"


def systems_of_kind(kind):
    return one_of(name for name, system in EXPERIMENT.systems.items() if system.kind == kind)


@cache
def imports(script):
    """The modules of scripts/ that a script imports itself."""
    found = []
    for node in ast.walk(ast.parse(Path(workflow.basedir, script).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scripts."):
            path = node.module.replace(".", "/")
            names = [f"{path}/{alias.name}.py" for alias in node.names] + [f"{path}.py", f"{path}/__init__.py"]
            found += [name for name in names if Path(workflow.basedir, name).is_file()]
    return found


@cache
def modules(script):
    """The modules of scripts/ that a script imports, directly or through others: their content decides reruns."""
    found, waiting = set(), list(imports(script))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += imports(name)
    return sorted(found)


def code(script, *further):
    """The inputs `script` and `modules` of a rule that runs scripts/{script}.

    `further` are files below scripts/ that the script loads by a name in its settings; they and their imports count too.
    """
    loaded = [f"scripts/{path}" for path in further]
    needed = {*loaded, *(name for path in (f"scripts/{script}", *loaded) for name in modules(path))}
    return {"script": f"scripts/{script}", "modules": sorted(needed)}


def texts_of(dataset, name, passage_length=None):
    """The texts `name` (corpus, queries/test …) of a dataset, or their passages of that length."""
    dataset = EXPERIMENT.corpus_owner(dataset) if name == "corpus" else dataset
    folder = f"passages/{dataset}/{passage_length}" if passage_length else f"data/{dataset}"
    return results(f"{folder}/{name}.jsonl")


def queries(wildcards):
    task = TASKS[wildcards.task]
    return results(f"data/{task.dataset}/queries/{task.split}.jsonl")


def qrels_of(task):
    return results(f"data/{task.dataset}/qrels/{task.split}.qrels")


def qrels(wildcards):
    return qrels_of(TASKS[wildcards.task])


def corpus_of(dataset):
    return texts_of(dataset, "corpus")


def index_of(dataset):
    return results(f"bm25/{EXPERIMENT.corpus_owner(dataset)}/index")


def checkpoint_of(system, seed):
    """The checkpoint with which a system ranks."""
    if seed == SELECTED:
        seed = system.selection.checkpoint
    seed = 0 if system.recipe == UNTRAINED else seed
    return results(f"models/{system.model}/{system.recipe}/seed-{seed}")


def print_errors_of_logs(since):
    """Repeat, last, the one line in which each failed job told what is wrong. Slurm keeps a log of each failed job as
    well, for what fails before the rule's own log is there."""
    slurm = sorted(Path(".snakemake/slurm_logs").rglob("*.log"))
    told = {}
    for log in [*sorted(Path(RESULTS, "logs").rglob("*.log")), *slurm]:
        if log.stat().st_mtime >= since:
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
                if found := re.match(r"(?:error|OSError|slurmstepd\S* error): (.*)", line):
                    told.setdefault(found[1], log)
    for line, log in told.items():
        print(f"error: {line}  [{log}]", file=sys.stderr)
