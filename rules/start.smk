"""The start of a run, before planning: read and resolve the configuration, or exit with a one-line error.

In: the configuration. Provides all other rule files with EXPERIMENT (the resolved experiment), CAUTIONS, CONFIG_NAME,
CONFIG_FILES, AS_MODULE (whether this is a part of another workflow), DEPLOYED (whether it is the whole of another
repository's), REPOSITORY (a clone, or the installed package), RESULTS (the experiment's folder), OWN_DATA, own_data, SOURCES
(the locations of data and models) and STARTED (when this process started).
"""

import gc
import json
import locale
import os
import shlex
import sys
import time
from pathlib import Path

import snakemake

gc.set_threshold(100_000, 50, 50)  # a plan keeps its objects: default collection takes a tenth of the time

# The folder of this file, and not of the main Snakefile (workflow.basedir), which is another repository's if this is a
# module. Snakemake may have fetched it from elsewhere; then the modules are those of the installed package.
RULES = workflow.current_basedir
CLONE = Path(RULES.get_path_or_uri(secret_free=True)).resolve().parent
if (CLONE / "ranktrial").is_dir():
    sys.path.insert(0, str(CLONE))
try:
    from ranktrial.common.home import HOME as REPOSITORY
except ModuleNotFoundError:
    sys.exit("error: the package ranktrial is not installed beside Snakemake, in the version that the Snakefile names")
sys.path.insert(0, str(REPOSITORY))
from ranktrial.common.configurations import of_same_name
from ranktrial.common.errors import UserError
from ranktrial.common.extras import names_extras, provide
from ranktrial.common.paths import why_no_clone
from ranktrial.engine.downloads import fetched, HOW
from ranktrial.engine.identity import OwnData
from ranktrial.engine.job_records import adopt, repair, warn_at_the_end
from ranktrial.engine.deployment import is_whole, why_other_version
from ranktrial.engine.rule_helpers import newer_than_tested
from ranktrial.engine.run_lock import guard
from ranktrial.engine.slurm_submission import pass_on_warnings
from ranktrial.experiment.descriptions import cautions
from ranktrial.configuration.key_paths import with_file
from ranktrial.configuration.reading import read_yaml, remove_nulls
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.system_types import system_type
from ranktrial.ir.runs import known_zero_runs
from ranktrial.training.tracking import REPORT_TO
from scripts.bm25.planning import further_texts
from scripts.datasets import planning as datasets
from scripts.features.planning import own_files as features_of_others

STARTED = time.time()
if reason := why_no_clone(str(REPOSITORY)):
    sys.exit(str(UserError(f"error: {reason}")))
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])

os.environ["PYTHONUTF8"] = "1"  # for jobs; Snakemake itself is already running
if not sys.flags.utf8_mode and locale.getencoding().lower().replace("-", "") != "utf8":
    sys.exit(f"error: Python reads texts as {locale.getencoding()} here, and all of them are UTF-8: set PYTHONUTF8=1")

DEPLOYED = is_whole(workflow, config)
AS_MODULE = not workflow.modifier.is_main_snakefile() and not DEPLOYED
GIVEN = workflow.overwrite_configfiles
if DEPLOYED and GIVEN:  # given files replace that of the main Snakefile, as in a clone
    config = workflow.config_settings.overwrite_config
if workflow.is_main_process and (reason := why_other_version(RULES, workflow.sourcecache)):
    sys.exit(f"error: {reason}")
# Jobs find the modules of a clone through PYTHONPATH, also those in conda environments, which have neither ranktrial/ nor
# scripts/; without conda they use the Python that runs Snakemake, in which ranktrial may be installed.
# A prefix replaces Snakemake's strict mode, so strict mode is set again. The prefix also holds for the rules of a
# workflow that uses this one as a module, so the search path of that workflow stays in PYTHONPATH.
OTHERS = os.environ.get("PYTHONPATH") if AS_MODULE or DEPLOYED else None
PYTHONPATH = f"{REPOSITORY}{os.pathsep}{OTHERS}" if OTHERS else str(REPOSITORY)
shell.prefix(f"set -euo pipefail; export PYTHONPATH={shlex.quote(PYTHONPATH).replace('{', '{{').replace('}', '}}')}; ")
CONFIG_FILES = [os.path.relpath(file) for file in (GIVEN if DEPLOYED and GIVEN else workflow.configfiles)]
CONFIG_NAME = CONFIG_FILES[-1] if CONFIG_FILES else "config"  # prefix of messages about the configuration
WARNINGS = [newer_than_tested(snakemake.__version__)]
WRITTEN = {}
try:
    for file in CONFIG_FILES if not AS_MODULE else []:  # files of another workflow may contain anything
        WRITTEN[file] = read_yaml(Path(file))
    if len(CONFIG_FILES) > 1:
        remove_nulls(config)
    if ".parquet" in str(config):  # resolving reads the user's tables
        provide(["datasets"], CONFIG_NAME)
    with names_extras():
        EXPERIMENT = resolve(config, CONFIG_NAME)
    RESULTS = f"results/{EXPERIMENT.name}"
    OWN_DATA = OwnData(Path("results/state/own-data"), EXPERIMENT.name, job=workflow.remote_exec)
    CAUTIONS = cautions(EXPERIMENT)
    if workflow.is_main_process:  # its jobs read this file too
        guard(Path("results/state/progress"), EXPERIMENT.name)
        adopt(Path("results"), Path(".snakemake"))
        WARNINGS += repair(Path("results"), EXPERIMENT.name, Path(".snakemake"))
        means = Path(path("means", experiment=EXPERIMENT.name))
        WARNINGS += [f"{CONFIG_NAME}: {caution}" for caution in known_zero_runs(means)]
        WARNINGS += [] if AS_MODULE else of_same_name(EXPERIMENT.name, Path(CONFIG_NAME))
        warn_at_the_end(workflow)
    elif "SLURM_JOB_ID" in os.environ:
        pass_on_warnings()
    SOURCES = datasets.sources_of(EXPERIMENT, CONFIG_NAME, OWN_DATA.sha256, fetched(Path(".snakemake/metadata")))
except UserError as error:
    sys.exit(f"error: {with_file(str(error), CONFIG_NAME, WRITTEN)}")
WARNINGS += [with_file(f"{CONFIG_NAME}: {caution}", CONFIG_NAME, WRITTEN) for caution in CAUTIONS]
for warning in filter(None, WARNINGS) if workflow.is_main_process else []:
    print(f"warning: {warning}", file=sys.stderr)

# Jobs read from the environment how to fetch a file. If this were a setting, a change of mirrors would fetch it again.
os.environ[HOW] = json.dumps(SOURCES.how(EXPERIMENT.mirrors))
if EXPERIMENT.device == "cpu":
    os.environ["RANKTRIAL_DEVICE"] = "cpu"  # for jobs (those on other nodes read this file too) and profiles/slurm
os.environ[REPORT_TO] = EXPERIMENT.report_to or ""


def own_data():
    """The user's own files and folders: datasets, models, external systems, features, clusters, published numbers."""
    places = [dataset.location for dataset in EXPERIMENT.datasets.values()]
    places += [model.weights for model in EXPERIMENT.models.values()]
    places += [file for system in EXPERIMENT.systems.values() for file in system_type(system).files(system)]
    for file_of in (further_texts, datasets.excluded_file):
        places += [file_of(EXPERIMENT, dataset) for dataset in EXPERIMENT.datasets]
    places += features_of_others(EXPERIMENT)
    clusters = [comparison.statistics.clusters for comparison in EXPERIMENT.comparisons.values()]
    places += [file for files in clusters if isinstance(files, dict) for file in files.values()]
    published = EXPERIMENT.published
    places += [published.file, published.mapping] if published else []
    return [place for place in dict.fromkeys(places) if place and os.path.exists(place)]
