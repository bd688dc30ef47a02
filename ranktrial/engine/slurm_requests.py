"""What a job requests of Slurm beyond the plugin's options: GPUs as generic resources, and a node of its own.

The plugin's resource for further options of sbatch, `slurm_extra`, is one text, which the site's profile sets: a rule
that needs an option of its own would replace it. Such rules state a resource instead, and the option is added here.
"""

from __future__ import annotations

import re
import sys
from typing import Any

GPUS = re.compile(r"--gpus(?:-per-node)?=(\S+)")
BY, GRES = "gpus_by", "gres"  # the resource that states how GPUs are requested, and its value for --gres
OWN_NODE = "own_node"  # the resource of a job that no other may share a node with
UNSHARED = "--exclusive"


def options(words: str, resources: Any) -> str:
    """The options of a submission that request GPUs, as the site wants them, and a node if the job needs it alone."""
    if resources.get(BY) == GRES:
        words = GPUS.sub(r"--gres=gpu:\1", words)  # per node, as both of the others are for one node
    return f"{words} {UNSHARED}" if resources.get(OWN_NODE) else words


def add_options(executor: Any, name: str) -> None:
    """Let the plugin add these options to each submission; `name` is its function for the options of GPUs."""
    plugin = sys.modules[type(executor).__module__]
    before = getattr(plugin, name)
    setattr(plugin, name, lambda job: options(before(job), job.resources))
