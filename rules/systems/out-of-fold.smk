"""Out-of-fold scores: combine the runs of re-rankers that were each trained without one fold.

In: runs/{task}/{system}/seed-{seed}.trec.gz of each re-ranker. Out: runs/{task}/{system}/seed-{seed}.trec.gz with its
timing.
"""

from ranktrial.engine.job_settings import settings
from scripts.fusion import planning as fusion


rule join_folds:
    input:
        runs=lambda wildcards: fusion.runs_of_folds(EXPERIMENT, wildcards.system, wildcards.task),
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="join_folds/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        system=systems_of_type("out-of-fold"),
    params:
        code=code("fusion/join_folds.py"),
        settings=lambda wildcards: settings(**fusion.joining_settings(EXPERIMENT, wildcards.system, wildcards.task)),
    conda:
        "../../envs/evaluation.yaml"
    message:
        "join_folds {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --runs {input.runs:q} --run {output.run:q} --timing {output.timing:q}"
        " --settings {params.settings:q} --log {log:q}"
