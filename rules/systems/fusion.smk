"""Fusion: combine the runs of several systems; a system can have the weights of its sum tuned on dev.

In: runs/{task}/{system}/seed-{seed}.trec.gz of the fused systems, data/{dataset}/qrels/dev.qrels. Out, for a fusion:
runs/{task}/{system}/seed-{seed}.trec.gz with its timing, and fusion/{dataset}/{system}/seed-{seed}.weights.json with
seed-{seed}.grid.tsv (the weights tried).
"""

from scripts.fusion import planning as fusion


use rule in_workflow as tune_fusion with:
    input:
        runs=planned(fusion.dev_runs),
        qrels=result("qrels", split="dev"),
    output:
        weights=result("fusion_weights"),
        grid=result("fusion_grid"),
    wildcard_constraints:
        system=systems_of_type("fusion"),
    params:
        **job("fusion/jobs.py:tune_fusion", planned(fusion.tuning_settings)),


use rule in_workflow as fuse with:
    input:
        runs=planned(fusion.runs),
        weights=planned(fusion.weights),
    output:
        run=result("run"),
        timing=result("run_timing"),
    wildcard_constraints:
        system=systems_of_type("fusion"),
    params:
        **job("fusion/jobs.py:fuse", planned(fusion.fusing_settings)),
