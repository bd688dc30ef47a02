"""The start of a run, before planning: read and resolve the configuration, or exit with a one-line error.

In: the configuration. Provides all other rule files with EXPERIMENT (the resolved experiment), CAUTIONS, CONFIG_NAME,
CONFIG_FILES, AS_MODULE (whether another workflow uses this one), REPOSITORY, PATH_TO_REPOSITORY, RESULTS (the
experiment's folder), OWN_DATA, own_data, SOURCES (the locations of data and models) and STARTED (when this process started).
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

# From this file and not from the main Snakefile (workflow.basedir), which is another repository's if this is a module.
REPOSITORY = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).resolve().parent
if not (REPOSITORY / "scripts").is_dir():
    sys.exit(
        f"error: {REPOSITORY}: no scripts/ there; `snakefile:` of the module must be a path in a clone of ranktrial"
    )
sys.path.insert(0, str(REPOSITORY))
from scripts.bm25.planning import further_texts
from ranktrial.common.configurations import of_same_name
from ranktrial.common.errors import UserError
from ranktrial.common.paths import why_no_clone
from scripts.datasets import planning as datasets
from ranktrial.engine.downloads import HOW, fetched
from ranktrial.engine.job_records import adopt
