"""Transfer studies: learning curves over the number of training queries (for matrices, see rules/tables.smk).

In: metrics/{task}/{system}/seed-{seed}.tsv, timings of trainings, tables/datasets.tsv. Out: curves/{curve}.json,
tables/curves-{curve}.tsv.
"""

from ranktrial.engine.rule_helpers import one_of, settings
from scripts.synthesis.transfer import planning as transfer_values


localrules:
    curves,


rule curves:
    input:
        metrics=lambda wildcards: transfer_values.curves_metrics(EXPERIMENT, wildcards.curve),
        timings=lambda wildcards: transfer_values.curves_timings(EXPERIMENT, wildcards.curve),
        datasets=result("datasets_table"),
    output:
        table=shown(result("curves_table"), "curves", "Tables", table="curves", comparison="{curve}"),
        record=result("curves"),
    log:
        result("log", job="curves/{curve}"),
    wildcard_constraints:
        curve=one_of(EXPERIMENT.curves),
    params:
        code=code("synthesis/measure_curves.py"),
        settings=lambda wildcards: settings(**transfer_values.curves_settings(EXPERIMENT, wildcards.curve)),
    conda:
        "../envs/evaluation.yaml"
    shell:
        "python {params.code[script]:q} --metrics {input.metrics:q} --timing {input.timings:q} --datasets {input.datasets:q}"
        " --table {output.table:q} --record {output.record:q} --settings {params.settings:q} --log {log:q}"
