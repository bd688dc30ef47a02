"""Rankers of the user's: a program or a Python class is trained, once per seed, and ranks the queries of tasks.

In: data/{dataset}/, runs/ of first stages, the user's code. Out: runs/{task}/{system}/seed-{seed}.trec.gz with its
timing; rankers/{source}/{system}/seed-{seed}/, what a training wrote, with its timing. {source} is the training dataset.
"""

from scripts.command import planning as command

measured("train_command", "train_command_on_gpu", "run_command", "run_command_on_gpu")


use rule in_workflow as train_command with:
    input:
        unpack(planned(command.training_inputs)),
    output:
        model=directory(result("command_model")),
        timing=result("ranker_timing"),
    threads: planned(command.threads)
    wildcard_constraints:
        system=command.systems(EXPERIMENT, gpu=False),
        source="[^/]+",
    params:
        **job("command/jobs.py:train_command", planned(command.training_settings), planned(command.loads)),


use rule train_command as train_command_on_gpu with:
    wildcard_constraints:
        system=command.systems(EXPERIMENT, gpu=True),
        source="[^/]+",
    message:
        "train_command {wildcards.source} {wildcards.system} seed-{wildcards.seed}"


use rule in_workflow as run_command with:
    input:
        unpack(planned(command.running_inputs)),
    output:
        run=result("run"),
        timing=result("run_timing"),
    threads: planned(command.threads)
    wildcard_constraints:
        system=command.systems(EXPERIMENT, gpu=False),
    params:
        **job("command/jobs.py:run_command", planned(command.running_settings), planned(command.loads)),


use rule run_command as run_command_on_gpu with:
    wildcard_constraints:
        system=command.systems(EXPERIMENT, gpu=True),
    message:
        "run_command {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
