"""Fusion: runs of several systems become one; the weights of a sum are tuned on dev where a system asks for it.

In: runs/{task}/{system}/seed-{seed}.trec.gz of the fused systems, data/{dataset}/qrels/dev.qrels. Out, for a system that
fuses: runs/{task}/{system}/seed-{seed}.trec.gz with its timing, and fusion/{dataset}/{system}/seed-{seed}.weights.json with
seed-{seed}.grid.tsv (the weights tried).
"""

from scripts.experiment.systems import fusion


def runs_fused(system, seed, task):
    """The runs of the fused systems on a task, in their order; those without training join each seed."""
    seed = seed if seed == SELECTED else int(seed)
    seeds = {name: EXPERIMENT.seed_taken(name, seed, task) for name in fusion.KIND.takes(system)}
    return [results(f"runs/{task.folder}/{name}/seed-{taken}.trec.gz") for name, taken in seeds.items()]


def fusion_weights(wildcards):
    """The tuned weights' file, for a system that tunes them."""
    system, dataset = EXPERIMENT.systems[wildcards.system], TASKS[wildcards.task].dataset
    path = results(f"fusion/{dataset}/{system.name}/seed-{wildcards.seed}.weights.json")
    return path if fusion.tunes(system) else []


rule tune_fusion:
    input:
        **code("fusion/tune.py"),
        runs=lambda wildcards: runs_fused(
            EXPERIMENT.systems[wildcards.system], wildcards.seed, EXPERIMENT.task_of_split(wildcards.dataset, "dev")
        ),
        qrels=results("data/{dataset}/qrels/dev.qrels"),
    output:
        weights=results("fusion/{dataset}/{system}/seed-{seed}.weights.json"),
        grid=results("fusion/{dataset}/{system}/seed-{seed}.grid.tsv"),
    log:
        results("logs/tune_fusion/{dataset}/{system}/seed-{seed}.log"),
    wildcard_constraints:
        system=systems_of_kind("fusion"),
    params:
        settings=lambda wildcards: settings(**fusion.tuning_settings(EXPERIMENT.systems[wildcards.system])),
    conda:
        "../envs/evaluation.yaml"
    message:
        "tune_fusion {wildcards.dataset} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --runs {input.runs:q} --qrels {input.qrels:q} --weights {output.weights:q}"
        " --table {output.grid:q} --settings {params.settings:q} 2>&1 | tee {log:q}"


rule fuse:
    input:
        **code("fusion/fuse.py"),
        runs=lambda wildcards: runs_fused(
            EXPERIMENT.systems[wildcards.system], wildcards.seed, TASKS[wildcards.task]
        ),
        weights=fusion_weights,
    output:
        run=results("runs/{task}/{system}/seed-{seed}.trec.gz"),
        timing=results("runs/{task}/{system}/seed-{seed}.timing.json"),
    log:
        results("logs/fuse/{task}/{system}/seed-{seed}.log"),
    wildcard_constraints:
        system=systems_of_kind("fusion"),
    params:
        settings=lambda wildcards: settings(
            **fusion.fusing_settings(EXPERIMENT.systems[wildcards.system]),
            depth=EXPERIMENT.depth,
            tag=f"{wildcards.system}-{wildcards.seed}",
        ),
    conda:
        "../envs/evaluation.yaml"
    message:
        "fuse {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --runs {input.runs:q} --weights {input.weights:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} 2>&1 | tee {log:q}"
