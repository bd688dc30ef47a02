"""Why torch cannot use a GPU, by the versions of driver and build; the drivers and torch are made up, no GPU is needed."""

from types import SimpleNamespace

import pytest

from ranktrial.common import gpu_driver
from ranktrial.common.gpu_driver import driver_version, fitting_build, why_torch_cannot, why_unusable


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Tue Mar  5 22:42:15 UTC 2024", "535.161.08"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs@x)", "580.65.06"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57  Fri", "470.57"),
        ("something else 12", None),
        ("", None),
    ],
)
def test_the_version_is_in_the_first_line(tmp_path, line, version):
    (tmp_path / "version").write_text(f"{line}\nGCC version:  gcc version 999.1 (Debian)\n")
    assert driver_version(tmp_path / "version") == version
    assert driver_version(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("driver", "build"),
    [("580.65.06", "cu130"), ("580.65.05", "cu126"), ("580.7", "cu126"), ("590.1", "cu130"), ("525.60.13", "cu126"),
     ("525.60.12", None), ("470.57.02", None)],
)  # fmt: skip
def test_the_newest_build_that_a_driver_runs(driver, build):
    assert fitting_build(driver) == build


@pytest.mark.parametrize(
    ("cuda", "driver", "error", "said"),
    [
        (None, None, "", "no NVIDIA driver is loaded on this machine (/proc/driver/nvidia/version); install one"),
        ("13.0", None, "", "no NVIDIA driver is loaded on this machine"),
        (None, "580.95.05", "", "torch 2.13.0 is built for processors, and the driver is 580.95.05: make setup TORCH=cu130"),
        (None, "470.57", "", "and the driver is 470.57: install driver 525.60.13 or newer"),
        ("13.0", "560.35.03", "", "torch 2.13.0 is built for CUDA 13.0, which needs driver 580.65.06, and the driver is "
         "560.35.03: make setup TORCH=cu126, or install driver 580.65.06 or newer"),
        ("12.6", "470.57", "", "which needs driver 525.60.13, and the driver is 470.57: install driver 525.60.13 or newer"),
        ("12.6", "560.35.03", "No CUDA GPUs\nare available", "torch 2.13.0 is built for CUDA 12.6, and driver 560.35.03 is "
         "new enough, but the GPU does not start (No CUDA GPUs are available): see nvidia-smi"),
        ("14.0", "700.1", "", "built for CUDA 14.0, and driver 700.1 is new enough, but the GPU does not start: see"),
    ],
)  # fmt: skip
def test_the_reason_names_versions_and_a_cure_in_one_line(cuda, driver, error, said):
    reason = why_unusable("2.13.0", cuda, driver, error)
    assert said in reason and "\n" not in reason


def test_the_message_of_torch_is_part_of_it(monkeypatch):
    def init():
        raise RuntimeError("CUDA error: all CUDA-capable devices are busy or unavailable\nCUDA kernel errors might be")

    torch = SimpleNamespace(__version__="2.13.0", version=SimpleNamespace(cuda="12.6"), cuda=SimpleNamespace(init=init))
    monkeypatch.setattr(gpu_driver, "driver_version", lambda: "560.35.03")
    assert "(CUDA error: all CUDA-capable devices are busy or unavailable): see nvidia-smi" in why_torch_cannot(torch)
