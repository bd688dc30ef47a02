"""What all rules share: the resolved experiment, paths under results/, the sources a job depends on, its settings."""

import gc
import json
import locale
import os
import re
import shlex
import sys
import time
from pathlib import Path

import snakemake

gc.set_threshold(100_000, 50, 50)  # a plan keeps all that it makes: looking for garbage as often as usual takes a tenth

# Of this file and not of the main Snakefile (workflow.basedir), which is another repository's where this is its module.
REPOSITORY = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).resolve().parent
if not (REPOSITORY / "scripts").is_dir():
    sys.exit(
        f"error: {REPOSITORY}: no scripts/ there; `snakefile:` of the module must be a path in a clone of ranktrial"
    )
sys.path.insert(0, str(REPOSITORY))
from scripts.experiment import job_files, results_paths
from scripts.experiment.cautions import cautions
from scripts.experiment.records import UNTRAINED
from scripts.experiment.reading import read_yaml
from scripts.bm25.planning import further_texts
from scripts.datasets.planning import excluded_file
from scripts.ir.zero_runs import known_zero_runs
from scripts.engine.downloads import HOW, fetched
from scripts.engine.failures import errors_of_logs
from scripts.engine.job_code import job_code
from scripts.engine.job_records import adopt
from scripts.engine.job_settings import settings
from scripts.engine.left_standing import warn_at_the_end
from scripts.engine.place import path_to_repository
from scripts.common.errors import UserError
from scripts.engine.own_data import OwnData
from scripts.engine.repair import repair
from scripts.common.paths import why_no_clone
from scripts.experiment.resolution import resolve
from scripts.experiment.resolved_file import write_resolved
from scripts.experiment.epochs_by_queries import with_text_keys
from scripts.experiment.system_kinds import system_kind
from scripts.experiment.records import SELECTED
from scripts.experiment.results_paths import SPLITS, TABLE_FORMATS
from scripts.engine.slurm import begin_run
from scripts.engine.versions import newer_than_tested
from scripts.common.plugins import source as plugin_file
from scripts.features.planning import own_files as features_of_others
from scripts.models.adapters import KINDS as KINDS_OF_MODEL, index_of
from scripts.selection.planning import selections

STARTED = time.time()
if reason := why_no_clone(str(REPOSITORY)):
    sys.exit(str(UserError(f"error: {reason}")))
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])

os.environ["PYTHONUTF8"] = "1"  # of jobs; Snakemake itself runs already
if not sys.flags.utf8_mode and locale.getencoding().lower().replace("-", "") != "utf8":
    sys.exit(f"error: Python reads texts as {locale.getencoding()} here, and all of them are UTF-8: set PYTHONUTF8=1")

PATH_TO_REPOSITORY = path_to_repository(REPOSITORY, Path(workflow.main_snakefile), Path.cwd())
AS_MODULE = PATH_TO_REPOSITORY != ""
# Jobs find the modules of scripts/ from the repository's root and, without conda, the Python that runs Snakemake.
# A prefix replaces Snakemake's strict mode, so strict mode is set again. The prefix also holds for the rules of a
# workflow that uses this one as a module, so the search path of that workflow stays in PYTHONPATH.
OTHERS = os.environ.get("PYTHONPATH") if AS_MODULE else None
PYTHONPATH = f"{REPOSITORY}{os.pathsep}{OTHERS}" if OTHERS else str(REPOSITORY)
shell.prefix(f"set -euo pipefail; export PYTHONPATH={shlex.quote(PYTHONPATH).replace('{', '{{').replace('}', '}}')}; ")
CONFIG_FILES = [os.path.relpath(path) for path in workflow.configfiles]
CONFIG_NAME = CONFIG_FILES[-1] if CONFIG_FILES else "config"  # begins messages about the configuration
WARNINGS = [newer_than_tested(snakemake.__version__)]
try:
    for path in CONFIG_FILES if not AS_MODULE else []:  # the files of another workflow may hold anything
        read_yaml(Path(path))
    EXPERIMENT = resolve(config, CONFIG_NAME)
    CAUTIONS = cautions(EXPERIMENT)
    if workflow.is_main_process:  # the jobs that it starts read this file too
        adopt(Path("results"), Path(".snakemake"))
        WARNINGS += repair(Path("results"), EXPERIMENT.name, Path(".snakemake"))
        means = Path(results_paths.path("means", experiment=EXPERIMENT.name))
        WARNINGS += [f"{CONFIG_NAME}: {caution}" for caution in known_zero_runs(means)]
        warn_at_the_end(workflow)
except UserError as error:
    sys.exit(f"error: {error}")
WARNINGS += [f"{CONFIG_NAME}: {caution}" for caution in CAUTIONS]
for warning in filter(None, WARNINGS) if workflow.is_main_process else []:
    print(f"warning: {warning}", file=sys.stderr)

if EXPERIMENT.device == "cpu":
    os.environ["RANKTRIAL_DEVICE"] = "cpu"  # of jobs (those on other nodes read this file too) and profiles/slurm

RESULTS = f"results/{EXPERIMENT.name}"


# Seconds each, little memory, not many: on a cluster they run beside Snakemake, where downloads find a network too.
localrules:
    check,
    fetch,
    fetch_folder,
    datasets_table,
    selected_seeds,
    choose_recipe,
    chosen_checkpoint,
    chosen_recipes,
    select_seed,
    means,
    compare,
    moderate,
    moderators_tables,
    bubble,
    comparisons_table,
    influence,
    importance_figure,
    queries,
    family_table,
    family_figure,
    tables,
    published,
    forest,
    influence_figure,
    queries_figure,
    chart,
    matrix,
    matrix_tables,
    curves,
    curve_answers,
    curves_figure,
    costs,
    times,
    cost_figure,
    study_design,
    study_design_figure,
    plan_study,
    report,


wildcard_constraints:
    dataset="[^/]+",
    task="[^/]+",
    system="[^/]+",
    model="[^/]+",
    recipe="[^/]+",
    seed="|".join(["[0-9]+", SELECTED, *(re.escape(chosen.checkpoint) for chosen in selections(EXPERIMENT).values())]),
    split="train|dev|test",
    shard="[0-9]+",
    shards="[0-9]+",
    comparison="[^/]+",
    family="[^/]+",


def result(name, **fields):
    """A path of the table in scripts/experiment/results_paths.py; a field that is not given stays a wildcard."""
    of_experiment = {} if name == "download" else {"experiment": EXPERIMENT.name}
    return results_paths.path(name, **of_experiment, **fields)


def shards_of(name):
    """The files of all shards."""
    return expand(result(name, shards=EXPERIMENT.shards), shard=range(EXPERIMENT.shards), allow_missing=True)


def shown_figure(figure_format, caption, category, figure, **labels):
    """A file of a figure that `snakemake --report` shows."""
    path = result("figure", figure=figure, figure_format=figure_format)
    return shown(path, caption, category, **labels, file=figure_format)


def shown(path, caption, category, **labels):
    """An output that `snakemake --report` shows, with its caption (rules/captions/) and what distinguishes it from others."""
    return report(path, caption=f"captions/{caption}.rst", category=category, labels=labels)


OWN_DATA = OwnData(Path("results/state/own-data"), EXPERIMENT.name, job=workflow.remote_exec)


def sha256_of(**paths):
    """The setting that identifies the user's own files and folders that a job reads: the SHA-256 of each, by option.

    Snakemake thus plans a change of content whatever its date. Jobs use the SHA-256 from the start of the run.
    """
    sha256_by_option = {option: OWN_DATA.sha256(path) for option, path in paths.items() if path}
    return {"sha256_of": {option: sha256 for option, sha256 in sha256_by_option.items() if sha256}}


def own_data():
    """The user's own files and folders: of datasets, models, external systems, clusters and published numbers."""
    places = [dataset.location for dataset in EXPERIMENT.datasets.values()]
    places += [model.weights for model in EXPERIMENT.models.values()]
    places += [file for system in EXPERIMENT.systems.values() for file in system_kind(system).files(system)]
    for file_of in (further_texts, excluded_file):
        places += [file_of(EXPERIMENT, dataset) for dataset in EXPERIMENT.datasets]
    places += features_of_others(EXPERIMENT)
    clusters = [comparison.statistics.clusters for comparison in EXPERIMENT.comparisons.values()]
    places += [path for files in clusters if isinstance(files, dict) for path in files.values()]
    published = EXPERIMENT.published
    places += [published.file, published.mapping] if published else []
    return [place for place in dict.fromkeys(places) if place and os.path.exists(place)]


def one_of(names):
    """A wildcard constraint that allows these names and no other (nothing at all if there are none)."""
    return "|".join(map(re.escape, names)) or "(?!)"


def systems_of_kind(*kinds, index=None, shards=None):
    """The systems of these kinds, those that search an index of the form `index`, and those with `shards` or without."""
    systems = {name: system for name, system in EXPERIMENT.systems.items() if system.kind in kinds}
    if index is not None:
        systems = [name for name in systems if job_files.index_searched(EXPERIMENT, name) == index]
    return one_of(name for name in systems if shards in (None, job_files.ranked_in_shards(EXPERIMENT, name)))


def scorers(*, shards):
    """The systems whose models score mined candidates and examples, in shards or in one job."""
    return one_of(name for name in EXPERIMENT.systems if job_files.scores_in_shards(EXPERIMENT, name) == shards)


def models_with(index):
    """The models that have an index of this form."""
    return one_of(name for name, entry in EXPERIMENT.models.items() if index_of(entry.type) == index)


def repository(path):
    """The path of one of the workflow's own files, as jobs and records name it."""
    return os.path.join(PATH_TO_REPOSITORY, path)


def code(script, loads=()):
    """The parameter `code` of a rule that runs scripts/{script}: its path, and a digest of what it and its modules mean.

    `loads` are the files below scripts/ that it loads by name, or a function of the wildcards that gives them.
    """

    def of_job(wildcards):
        of_script = job_code(script, *(loads(wildcards) if callable(loads) else loads))
        return of_script | {"script": repository(of_script["script"])}

    return of_job


def code_of_model(script, further=lambda wildcards: []):
    """The parameter `code` of a rule that runs a model: the script loads the adapter by the model's type.

    The model is the wildcard `model` or that of the system. `further` gives what else it loads by name.
    """

    def loads(wildcards):
        model = wildcards.get("model") or EXPERIMENT.systems[wildcards.system].model
        adapter_file = plugin_file(KINDS_OF_MODEL, EXPERIMENT.models[model].type)
        return [adapter_file.removeprefix("scripts/"), *further(wildcards)]

    return code(script, loads)


def begin():
    """At the start of a run that is no dry run: record its inputs, and on Slurm end the jobs that an earlier run left."""
    if not Path(repository("scripts")).is_dir():
        sys.exit(f"error: {Path.cwd()}: run snakemake in {REPOSITORY}, whose scripts the jobs start")
    OWN_DATA.begin_run(own_data())
    try:
        write_resolved(config, CONFIG_NAME, Path(RESULTS))
    except UserError as error:
        sys.exit(f"error: {error}")
    begin_run(workflow, RESULTS)


def print_where_results_are():
    if Path(RESULTS, "report.html").exists():
        print(f"{RESULTS}/report.html, {RESULTS}/summary.md and {RESULTS}/figures/ hold the results")


def print_errors_of_logs():
    """Repeat, at the end, the error line of each failed job.

    Slurm's own logs are read as well: a job may fail before its rule's log exists.
    """
    for line in errors_of_logs([Path(RESULTS, "logs"), Path(".snakemake/slurm_logs")], STARTED):
        print(line, file=sys.stderr)
