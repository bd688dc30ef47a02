"""Studies of transfer: the matrix of sources and targets, curves over the number of training queries, and what they answer.

In: metrics/{task}/{system}/seed-{seed}.tsv, timings of trainings, tables/datasets.tsv. Out: tables/{matrix}.{tsv,md,tex},
curves/{curve}.json, tables/curves-{curve}.tsv, tables/*-answers.{md,tsv}, figures/curves-*.{svg,pdf,png}.
"""

from scripts.reports.planning import transfer
from scripts.synthesis.transfer import planning as transfer_values

CURVE_FIGURES = transfer.drawn_curves(EXPERIMENT)


rule matrix:
    input:
        metrics=lambda wildcards: transfer_values.matrix_metrics(EXPERIMENT, wildcards.matrix),
    output:
        table=shown(result("matrix", table_format="tsv"), "matrix", "Tables", table="matrix", comparison="{matrix}"),
    log:
        result("log", job="matrix/{matrix}"),
    wildcard_constraints:
        matrix=one_of(EXPERIMENT.matrices),
    params:
        code=code("synthesis/measure_matrix.py"),
        settings=lambda wildcards: settings(**transfer_values.matrix_settings(EXPERIMENT, wildcards.matrix)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "matrix {wildcards.matrix}"
    shell:
        "python {params.code[script]:q} --metrics {input.metrics:q} --table {output.table:q}"
        " --settings {params.settings:q} --log {log:q}"


rule matrix_tables:
    input:
        table=result("matrix", table_format="tsv"),
    output:
        page=result("matrix", table_format="md"),
        latex=result("matrix", table_format="tex"),
        answers_page=result("answers", study="{matrix}", answers_format="md"),
        answers_table=result("answers", study="{matrix}", answers_format="tsv"),
    log:
        result("log", job="matrix_tables/{matrix}"),
    wildcard_constraints:
        matrix=one_of(EXPERIMENT.matrices),
    params:
        code=code("reports/matrix_tables.py"),
        settings=lambda wildcards: settings(**transfer.matrix_settings(EXPERIMENT, wildcards.matrix)),
    conda:
        "../envs/report.yaml"
    message:
        "matrix_tables {wildcards.matrix}"
    shell:
        "python {params.code[script]:q} --table {input.table:q} --page {output.page:q} --latex {output.latex:q}"
        " --answers-page {output.answers_page:q} --answers-table {output.answers_table:q}"
        " --settings {params.settings:q} --log {log:q}"


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
    message:
        "curves {wildcards.curve}"
    shell:
        "python {params.code[script]:q} --metrics {input.metrics:q} --timing {input.timings:q} --datasets {input.datasets:q}"
        " --table {output.table:q} --record {output.record:q} --settings {params.settings:q} --log {log:q}"


rule curve_answers:
    input:
        record=result("curves"),
    output:
        answers_page=result("answers", study="curves-{curve}", answers_format="md"),
        answers_table=result("answers", study="curves-{curve}", answers_format="tsv"),
    log:
        result("log", job="curve_answers/{curve}"),
    wildcard_constraints:
        curve=one_of(EXPERIMENT.curves),
    params:
        code=code("reports/curve_answers.py"),
        settings=lambda wildcards: settings(**transfer.curves_settings(EXPERIMENT, wildcards.curve)),
    conda:
        "../envs/report.yaml"
    message:
        "curve_answers {wildcards.curve}"
    shell:
        "python {params.code[script]:q} --record {input.record:q} --answers-page {output.answers_page:q}"
        " --answers-table {output.answers_table:q} --settings {params.settings:q} --log {log:q}"


rule curves_figure:
    input:
        record=lambda wildcards: result("curves", curve=CURVE_FIGURES[wildcards.curves_figure][0]),
    output:
        svg=shown_figure("svg", "curves", "Curves", figure="{curves_figure}", curves="{curves_figure}"),
        pdf=shown_figure("pdf", "curves", "Curves", figure="{curves_figure}", curves="{curves_figure}"),
        png=result("figure", figure="{curves_figure}", figure_format="png"),
    log:
        result("log", job="curves_figure/{curves_figure}"),
    wildcard_constraints:
        curves_figure=one_of(CURVE_FIGURES),
    params:
        code=code("reports/draw_curves.py"),
        settings=lambda wildcards: settings(**transfer.figure_settings(EXPERIMENT, wildcards.curves_figure)),
    conda:
        "../envs/report.yaml"
    message:
        "curves_figure {wildcards.curves_figure}"
    shell:
        "python {params.code[script]:q} --record {input.record:q}"
        " --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q}"
        " --settings {params.settings:q} --log {log:q}"
