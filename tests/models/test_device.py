"""A job that was given a GPU runs on it or stops; one that asks for the processor has it."""

import json
import os
import subprocess
import sys

import pytest

STUB = (
    "import sys, types; torch = types.ModuleType('torch'); torch.__version__ = '2.0+cpu'\n"
    "def init(): raise AssertionError('Torch not compiled with CUDA enabled')\n"
    "torch.cuda = types.SimpleNamespace(is_available=lambda: False, init=init); sys.modules['torch'] = torch\n"
    "torch.version = types.SimpleNamespace(cuda=None)\n"
    "import ranktrial.common.gpu_driver as driver; driver.driver_version = lambda: '560.35.03'\n"
)
ASK = "from ranktrial.models.running import device; from ranktrial.common.command_line import run; run(lambda: print(device()))"
HIDDEN = (
    "import os; from ranktrial.models import running; os.environ['CUDA_VISIBLE_DEVICES'] = ''; print(running.device())"
)


def asked(code: str = ASK, **variables: str) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "CUDA_", "RANKTRIAL_"))}
    return subprocess.run([sys.executable, "-c", STUB + code], env=kept | variables, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"CUDA_VISIBLE_DEVICES": "0"}, "CUDA_VISIBLE_DEVICES=0"),
        ({"CUDA_VISIBLE_DEVICES": "GPU-a1,GPU-b2"}, "CUDA_VISIBLE_DEVICES=GPU-a1,GPU-b2"),
        ({"SLURM_GPUS_ON_NODE": "2"}, "SLURM_GPUS_ON_NODE=2"),
    ],
)
def test_a_given_gpu_that_torch_cannot_use_stops_the_job_with_one_line(given, named):
    done = asked(**given)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == (
        f"error: this job was given a GPU ({named}) and would run on a processor: torch 2.0+cpu is built for processors, "
        "and the driver is 560.35.03: make setup TORCH=cu126; or set `device: cpu` in the configuration\n"
    )
    wanted = asked(**given, RANKTRIAL_DEVICE="cpu")
    assert (wanted.returncode, wanted.stdout) == (0, "cpu\n")


def test_a_job_without_a_gpu_runs_on_the_processor():
    for given in ({}, {"CUDA_VISIBLE_DEVICES": ""}, {"CUDA_VISIBLE_DEVICES": "-1"}, {"SLURM_GPUS_ON_NODE": "0"},
                  {"CUDA_VISIBLE_DEVICES": "NoDevFiles", "SLURM_GPUS_ON_NODE": "1"}):  # fmt: skip
        assert asked(**given).stdout == "cpu\n", given
    assert asked(HIDDEN, CUDA_VISIBLE_DEVICES="0").stdout == "cpu\n"  # as an export puts it away, to compare in fp32


def test_what_a_job_without_a_gpu_starts_has_none_either():
    """The job itself sets CUDA_VISIBLE_DEVICES, so that one process sees one device, and what it starts inherits it."""
    start = f"import subprocess, sys; from ranktrial.models import running; sys.exit(subprocess.call([sys.executable, '-c', {STUB + ASK!r}]))"
    assert asked(start).stdout == "cpu\n"
    assert asked(start, CUDA_VISIBLE_DEVICES="0").returncode == 1


def test_what_asks_for_the_processor_sees_no_gpu():
    code = (
        "import json, os; from ranktrial.models import running; print(json.dumps(os.environ['CUDA_VISIBLE_DEVICES']))"
    )
    assert json.loads(asked(code, CUDA_VISIBLE_DEVICES="0,1", RANKTRIAL_DEVICE="cpu").stdout) == ""
    assert json.loads(asked(code, CUDA_VISIBLE_DEVICES="0,1").stdout) == "0"


HAS_BF16 = "torch.cuda = types.SimpleNamespace(is_available=lambda: True, is_bf16_supported=lambda **_: True)\n"
SIZED = "model = types.SimpleNamespace(parameters=lambda: [types.SimpleNamespace(numel=lambda: {})])\n"


def test_a_gpu_multiplies_in_bf16_unless_the_library_alone_computes():
    """Small models are trained in tf32, since they wait for the processor, which bf16 gives more to do."""
    ask = (
        "from ranktrial.models import kernels, running; kernels.choose({!r})\n"
        "print(running.precision(), running.training_precision({!r}, model))"
    )
    of = {
        ("fast", None, 110_000_000): ["bf16", "bf16"],
        ("fast", None, 23_000_000): ["bf16", "tf32"],
        ("fast", "fp32", 110_000_000): ["bf16", "fp32"],
        ("library", None, 23_000_000): ["fp32", "fp32"],
        ("library", "bf16", 23_000_000): ["fp32", "bf16"],
    }
    for (kernels, precision, size), expected in of.items():
        code = HAS_BF16 + SIZED.format(size) + ask.format(kernels, precision)
        assert asked(code).stdout.split() == expected, (kernels, precision, size)


def test_a_processor_trains_in_no_tf32():
    ask = "from ranktrial.models import running\nrunning.training_precision('tf32', model)"
    refused = asked(SIZED.format(1) + ask)
    assert refused.returncode == 1 and "precision: only GPUs" in refused.stderr
