"""Whether torch uses the GPUs of this machine, at which rate, before an experiment pays for them.

Prints the driver and the one that torch needs, and for each visible device its memory, bf16 and the rate of matrix
products; with two or more devices also whether NCCL adds up numbers of two. The exit code is 1, with one line, if a GPU
cannot be used. Writes nothing.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from typing import Any

from ranktrial.common.command_line import run
from ranktrial.common.errors import UserError
from ranktrial.common.gpu_driver import driver_version, needed_driver, why_torch_cannot

SIZE = 8192  # rows and columns of the multiplied matrices
PRODUCTS = 20
EXCHANGED = 1 << 26  # numbers that two devices add up: 256 MB
WAIT = 60.0  # seconds for the exchange, with the start of two processes
# Published dense TFLOP/s in bf16, by a part of the device's name; the first that fits counts.
PUBLISHED = {"H200": 989, "H100 PCIe": 756, "H100 NVL": 835, "H100": 989, "GH200": 989, "A100": 312, "A800": 312,
             "L40S": 362, "L40": 181, "L4": 121, "A40": 150, "A30": 165, "A10": 125}  # fmt: skip
LEAST = 0.4  # share of the published rate below which a device is reported as slow


def rate(device: str, size: int, dtype: Any, products: int) -> float:
    """TFLOP/s of products of square matrices, after one that is not timed."""
    import torch

    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda *_: None
    left, right = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    left @ right
    wait(device)
    start = time.perf_counter()
    for _ in range(products):
        left @ right
    wait(device)
    return float(2 * size**3 * products / (time.perf_counter() - start) / 1e12)


def published(name: str) -> float | None:
    """The published rate of a device in TFLOP/s; None if it is unknown."""
    return next((rate for part, rate in PUBLISHED.items() if part in name), None)


def as_text(name: str, memory: int, free: int, bf16: bool, tflops: float) -> str:
    """One line on a device."""
    known = published(name) if bf16 else None
    share = f", {tflops / known:.0%} of the published {known:g}" if known else ""
    slow = "; SLOW: shared with other jobs, throttled or power-limited (nvidia-smi -q)" if _slow(known, tflops) else ""
    kind = "bf16" if bf16 else "fp32, since it has no bf16"
    memories = f"{free / 1e9:.1f} of {memory / 1e9:.1f} GB free"
    return f"{name}: {memories}; products in {kind}: {tflops:.0f} TFLOP/s{share}{slow}"


def _slow(known: float | None, tflops: float) -> bool:
    return known is not None and tflops < LEAST * known


def exchange(backend: str, numbers: int = EXCHANGED) -> float:
    """GB/s at which two processes add up their numbers. Raises UserError if they do not, or not in time."""
    import torch

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = torch.multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    pair = [context.Process(target=_add, args=(rank, port, backend, numbers, results), daemon=True) for rank in (0, 1)]
    for process in pair:
        process.start()
    deadline = time.monotonic() + WAIT
    for process in pair:
        process.join(max(0.0, deadline - time.monotonic()))
    hanging = [process for process in pair if process.is_alive()]
    for process in hanging:
        process.kill()
    if hanging:
        raise UserError(f"{backend}: two devices exchange nothing within {WAIT:g} s; try NCCL_DEBUG=INFO")
    if any(process.exitcode for process in pair) or results.empty():
        raise UserError(f"{backend}: two devices cannot add up their numbers; see the lines above")
    return float(results.get())


def _add(rank: int, port: int, backend: str, numbers: int, results: Any) -> None:
    """One of two processes: add up, check the sum, and report the rate."""
    import torch
    from torch import distributed

    device = f"cuda:{rank}" if backend == "nccl" else "cpu"
    if backend == "nccl":
        torch.cuda.set_device(rank)
    distributed.init_process_group(backend, f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    own = torch.full((numbers,), float(rank + 1), device=device)
    distributed.all_reduce(own)
    if not bool((own == 3).all()):
        sys.exit(f"error: the sum of 1 and 2 is {own.mean().item():g} on {device}")
    distributed.barrier()
    start = time.perf_counter()
    distributed.all_reduce(own)
    seen = own.sum().item()  # waits for it
    seconds = time.perf_counter() - start
    if rank == 0 and seen:
        results.put(own.nbytes / seconds / 1e9)
    distributed.destroy_process_group()


def main() -> None:
    import torch

    driver = driver_version()
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if not torch.cuda.is_available():
        raise UserError(f"{socket.gethostname()}: {why_torch_cannot(torch)}")
    needed = needed_driver(torch.version.cuda or "")
    print(f"{socket.gethostname()}: driver {driver}, torch {torch.__version__} for CUDA {torch.version.cuda}"
          f" (needs driver {needed})" + (f", CUDA_VISIBLE_DEVICES={given}" if given else ""))  # fmt: skip
    for number in range(torch.cuda.device_count()):
        device = f"cuda:{number}"
        free, memory = torch.cuda.mem_get_info(device)
        with torch.cuda.device(number):
            bf16 = torch.cuda.is_bf16_supported(including_emulation=False)
            tflops = rate(device, SIZE, torch.bfloat16 if bf16 else torch.float32, PRODUCTS)
        print(f"{device}: {as_text(torch.cuda.get_device_name(number), memory, free, bf16, tflops)}", flush=True)
    if torch.cuda.device_count() > 1:
        print(f"NCCL between two of them: {exchange('nccl'):.1f} GB/s")
    else:
        print("NCCL: one device is visible, so nothing was exchanged (srun --gpus=2 make check-gpu)")


if __name__ == "__main__":
    run(main)
