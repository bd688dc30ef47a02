"""What `make check-gpu` prints. Without a GPU: rates and the exchange on the processor, devices that are made up."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from ranktrial.common.errors import UserError
from scripts.training import check_gpu
from scripts.training.check_gpu import as_text, exchange, published, rate

REPOSITORY = Path(__file__).parents[2]


def test_two_processes_add_up_their_numbers():
    assert exchange("gloo", 1 << 16) > 0


def test_an_exchange_that_fails_is_one_line(capfd):
    with pytest.raises(UserError, match="nccl: two devices cannot add up their numbers"):
        exchange("nccl" if not torch.cuda.is_available() else "none", 16)


def test_a_rate_is_operations_by_seconds():
    assert 0 < rate("cpu", 128, torch.float32, 3) < 100


@pytest.mark.parametrize(
    ("name", "known"),
    [("NVIDIA A100-SXM4-80GB", 312), ("NVIDIA H100 80GB HBM3", 989), ("NVIDIA H100 PCIe", 756), ("NVIDIA L4", 121),
     ("NVIDIA L40S", 362), ("NVIDIA H200", 989), ("Tesla V100-SXM2-16GB", None)],
)  # fmt: skip
def test_published_rates(name, known):
    assert published(name) == known


def test_a_slow_device_is_said_to_be_slow():
    good = as_text("NVIDIA A100-SXM4-80GB", 85_000_000_000, 84_000_000_000, True, 250.0)
    assert (
        good == "NVIDIA A100-SXM4-80GB: 84.0 of 85.0 GB free; products in bf16: 250 TFLOP/s, 80% of the published 312"
    )
    assert "SLOW" in as_text("NVIDIA A100-SXM4-80GB", 85, 84, True, 100.0)
    other = as_text("Tesla V100", 16_000_000_000, 16_000_000_000, False, 14.0)
    assert other.endswith("products in fp32, since it has no bf16: 14 TFLOP/s")


def test_devices_are_listed_and_two_of_them_exchange(monkeypatch, capsys):
    cuda = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 2,
        mem_get_info=lambda device: (80_000_000_000, 85_000_000_000),
        device=lambda number: torch.no_grad(),
        is_bf16_supported=lambda including_emulation: True,
        get_device_name=lambda number: "NVIDIA A100-SXM4-80GB",
    )
    monkeypatch.setattr(torch, "cuda", cuda)
    monkeypatch.setattr(torch.version, "cuda", "12.6")
    monkeypatch.setattr(check_gpu, "driver_version", lambda: "560.35.03")
    monkeypatch.setattr(check_gpu, "rate", lambda *_: 280.0)
    monkeypatch.setattr(check_gpu, "exchange", lambda backend: 200.0)
    check_gpu.main()
    said = capsys.readouterr().out.splitlines()
    assert "driver 560.35.03, torch" in said[0] and "for CUDA 12.6 (needs driver 525.60.13)" in said[0]
    assert [line.partition(":")[0] for line in said[1:3]] == ["cuda", "cuda"] and len(said) == 4
    assert said[3] == "NCCL between two of them: 200.0 GB/s"


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.usefixtures("warm_processes")
def test_without_a_gpu_it_is_one_line_and_an_error():
    command = [sys.executable, "scripts/training/check_gpu.py"]
    done = subprocess.run(command, cwd=REPOSITORY, env={"PYTHONPATH": "."}, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert "driver" in done.stderr and not done.stdout
