"""Transfer studies: learning curves over the number of training queries (for matrices, see rules/tables.smk).

In: metrics/{task}/{system}/seed-{seed}.tsv, timings of trainings, tables/datasets.tsv. Out: curves/{curve}.json,
tables/curves-{curve}.tsv.
"""

from scripts.synthesis import planning as synthesis


localrules:
    curves,


use rule in_workflow as curves with:
    input:
        metrics=planned(synthesis.curves_metrics),
        timings=planned(synthesis.curves_timings),
        datasets=result("datasets_table"),
    output:
        table=shown(result("curves_table"), "curves", "Tables", table="curves", comparison="{curve}"),
        record=result("curves"),
    wildcard_constraints:
        curve=one_of(EXPERIMENT.curves),
    params:
        **job("synthesis/transfer.py:curves", planned(synthesis.curves_settings)),
