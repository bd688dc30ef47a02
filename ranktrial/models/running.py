"""The device and precision of models: bf16 on a CUDA device that supports it, fp32 on a CPU.

Import this before torch and its libraries: it sets variables that they read on import.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.gpu_driver import why_torch_cannot
from ranktrial.models.instructions import BF16_PRODUCTS, has
from ranktrial.models.kernels import fast

LARGE = 60_000_000  # parameters of a model that is trained faster in bf16 than in tf32 on a GPU
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # from malloc.h

# The libraries read these on import, so they are set first.
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", DO_NOT_TRACK="1")
if "OMP_NUM_THREADS" in os.environ:
    os.environ.setdefault("RAYON_NUM_THREADS", os.environ["OMP_NUM_THREADS"])  # the tokenizers' threads
# Waiting threads must not spin: if other work occupies a core, spinning makes training five times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
UNASKED = "RANKTRIAL_UNASKED"  # tells a job's child processes that the job was given no devices
if "CUDA_VISIBLE_DEVICES" not in os.environ:
    os.environ[UNASKED] = "1"
DEVICES = None if UNASKED in os.environ else os.environ["CUDA_VISIBLE_DEVICES"]  # as given to the job
DEVICE, CPU = "RANKTRIAL_DEVICE", "cpu"  # passes `device` of the configuration to jobs
NO_DEVICE = ("", "-1", "none", "NoDevFiles")  # values of CUDA_VISIBLE_DEVICES without any device
# One process, one device: if several were visible, the trainer would split batches between them.
os.environ["CUDA_VISIBLE_DEVICES"] = (
    "" if os.environ.get(DEVICE) == CPU else os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
)


def import_library() -> None:
    """Import sentence-transformers with torch and their dependencies, and exclude them from garbage collection.

    Nothing that an import creates is garbage: searching it would cost a second at the start of a job, and another at
    its end, when everything is searched again.
    """
    if "sentence_transformers" in sys.modules:  # freezing again would retain later garbage
        return
    gc.disable()
    try:
        with _scikit_learn_later():
            import sentence_transformers  # noqa: F401
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _scikit_learn_later() -> Iterator[None]:
    """Import sentence-transformers without scikit-learn, which it needs only for the Manhattan distance.

    scikit-learn, with scipy.stats, takes a fifth of a job's start-up time. Both are loaded when that distance is first
    computed.
    """
    name = "sklearn.metrics"
    if name in sys.modules:
        yield
        return

    def pairwise_distances(*arguments: Any, **options: Any) -> Any:
        from sklearn import metrics

        return metrics.pairwise_distances(*arguments, **options)

    later = ModuleType(name)
    later.__dict__["pairwise_distances"] = pairwise_distances
    sys.modules[name] = later
    try:
        yield
    finally:
        del sys.modules[name]


def keep_memory() -> None:
    """Make glibc keep freed memory: returning and reallocating large tensors costs a fifth of the time."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, 1 << 30)
        library.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)


def device() -> str:
    """`cuda` if such a device is available, otherwise `cpu`.

    Raises UserError if the job was given a GPU that torch cannot use, unless `device: cpu` is set: the job would take a
    hundred times as long, and compute in another precision.
    """
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if given := given_device():
        problem = f"this job was given a GPU ({given}) and would run on a processor: {why_torch_cannot(torch)}"
        raise UserError(f"{problem}; or set `device: cpu` in the configuration")
    return CPU


def given_device() -> str:
    """The variable that states that this job has a GPU, with its value; empty if there is none, or it is disabled."""
    if os.environ.get(DEVICE) == CPU or not os.environ.get("CUDA_VISIBLE_DEVICES"):
        return ""
    if DEVICES is not None:
        return "" if DEVICES.strip() in NO_DEVICE else f"CUDA_VISIBLE_DEVICES={DEVICES}"
    count = os.environ.get("SLURM_GPUS_ON_NODE", "0")
    return "" if count in ("", "0") else f"SLURM_GPUS_ON_NODE={count}"


def is_module(model: Any) -> bool:
    """Whether a loaded model is a torch model rather than an ONNX model."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def precision() -> str:
    """`bf16` on a CUDA device that supports it, otherwise `fp32`; always `fp32` with the library's kernels alone."""
    return "bf16" if fast() and _device_has_bf16() else "fp32"


def _device_has_bf16() -> bool:
    """Whether there is a CUDA device with native bf16 arithmetic."""
    import torch

    return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)


def training_precision(asked: str | None, model: Any) -> str:
    """The precision in which a model is trained: as requested, otherwise what is fastest on the device for its size.

    On a GPU, a small model waits for the processor, which bf16 gives more to do: each product is preceded by casts.

    Raises UserError for bf16 if the device does not support it: with emulated bf16, a training takes many times as
    long.
    """
    if asked == "bf16" and not _device_has_bf16() and (device() == "cuda" or not has(BF16_PRODUCTS)):
        what = "this CUDA device" if device() == "cuda" else f"this processor, which has no {BF16_PRODUCTS},"
        raise UserError(f"precision: {what} does not compute in bf16; leave it out")
    if asked == "tf32" and not _device_has_bf16():
        raise UserError("precision: only GPUs from NVIDIA's Ampere generation on compute in tf32; leave it out")
    small = sum(parameter.numel() for parameter in model.parameters()) < LARGE
    return asked or ("tf32" if precision() == "bf16" and small else precision())


def computed_by(model_type: Any, model: Any) -> dict[str, Any]:
    """What timings record about how a loaded model computes: its precision, and facts of backends other than torch."""
    stated = getattr(model_type, "facts", None)
    return stated(model) if stated else {"precision": precision()}


def computed_in(model: Any) -> dict[str, str]:
    """What timings record about a loaded torch model: its precision, that of its weights, and its tokens per batch."""
    import torch

    names = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
    found = {one.dtype for one in model.parameters() if one.is_floating_point()}
    weights = sorted(names.get(one, str(one).removeprefix("torch.")) for one in found)
    by_tokens = getattr(model, "batch_tokens", None)
    return {
        "precision": precision(),
        "weights_precision": "+".join(weights),
        **({"batch_tokens": by_tokens} if by_tokens else {}),
    }


def autocast() -> AbstractContextManager:
    """The context in which models compute in the device's precision."""
    import torch

    return torch.autocast("cuda", torch.bfloat16) if precision() == "bf16" else nullcontext()


def finite(values: np.ndarray) -> np.ndarray:
    """The values, unchanged. Raises UserError if one is NaN or infinite, since it cannot be ranked."""
    if not np.isfinite(values).all():
        raise UserError("the model yields no finite numbers: its weights are damaged, or its training diverged")
    return values
