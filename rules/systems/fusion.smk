"""Fusion: combine the runs of several systems; a system can have the weights of its sum tuned on dev.

In: runs/{task}/{system}/seed-{seed}.trec.gz of the fused systems, data/{dataset}/qrels/dev.qrels. Out, for a fusion:
runs/{task}/{system}/seed-{seed}.trec.gz with its timing, and fusion/{dataset}/{system}/seed-{seed}.weights.json with
seed-{seed}.grid.tsv (the weights tried).
"""

from ranktrial.engine.rule_helpers import settings
from scripts.fusion import planning as fusion


rule tune_fusion:
    input:
        runs=lambda wildcards: fusion.dev_runs(EXPERIMENT, **wildcards),
        qrels=result("qrels", split="dev"),
    output:
        weights=result("fusion_weights"),
        grid=result("fusion_grid"),
    log:
        result("log", job="tune_fusion/{dataset}/{system}/seed-{seed}"),
    wildcard_constraints:
        system=systems_of_type("fusion"),
    params:
        code=code("fusion/tune.py"),
        settings=lambda wildcards: settings(**fusion.tuning_settings(EXPERIMENT, wildcards.system)),
    conda:
        "../../envs/evaluation.yaml"
    message:
        "tune_fusion {wildcards.dataset} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --runs {input.runs:q} --qrels {input.qrels:q} --weights {output.weights:q}"
        " --table {output.grid:q} --settings {params.settings:q} --log {log:q}"


use rule in_evaluation as fuse with:
    input:
        runs=lambda wildcards: fusion.runs(EXPERIMENT, **wildcards),
        weights=lambda wildcards: fusion.weights(EXPERIMENT, **wildcards),
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="fuse/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        system=systems_of_type("fusion"),
    params:
        **job("fusion/fuse.py", lambda wildcards: fusion.fusing_settings(EXPERIMENT, wildcards.system, wildcards.seed)),
    message:
        "fuse {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
