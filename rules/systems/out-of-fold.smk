"""Out-of-fold scores: combine the runs of re-rankers that were each trained without one fold.

In: runs/{task}/{system}/seed-{seed}.trec.gz of each re-ranker. Out: runs/{task}/{system}/seed-{seed}.trec.gz with its
timing.
"""

from scripts.fusion import planning as fusion


use rule in_workflow as join_folds with:
    input:
        runs=planned(fusion.runs_of_folds),
    output:
        run=result("run"),
        timing=result("run_timing"),
    wildcard_constraints:
        system=systems_of_type("out-of-fold"),
    params:
        **job("fusion/jobs.py:join_folds", planned(fusion.joining_settings)),
