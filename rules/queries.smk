"""Queries: who wins which, for the comparisons with `figure: {queries: true}`.

In: metrics/{task}/{system}/seed-{seed}.tsv. Out: tables/query-differences/{comparison}.tsv,
tables/queries/{comparison}.tsv, figures/queries-{comparison}.{svg,pdf,png}.
"""

from scripts.experiment.figure_checks import QUERIES
from scripts.reports.planning import figures


rule queries:
    input:
        control=lambda wildcards: synthesis.control_metrics(EXPERIMENT, wildcards.comparison),
        treatment=lambda wildcards: synthesis.treatment_metrics(EXPERIMENT, wildcards.comparison),
    output:
        table=shown(result("queries_table"), "queries", "Tables", table="queries", comparison="{comparison}"),
        differences=result("query_differences"),
    log:
        result("log", job="queries/{comparison}"),
    params:
        code=code("synthesis/superiority_table.py"),
        settings=lambda wildcards: settings(**synthesis.compared_queries(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "queries {wildcards.comparison}"
    shell:
        "python {params.code[script]:q} --control {input.control:q} --treatment {input.treatment:q} --table {output.table:q}"
        " --differences {output.differences:q}"
        " --settings {params.settings:q} --log {log:q}"


rule queries_figure:
    input:
        differences=result("query_differences"),
        table=result("queries_table"),
    output:
        svg=shown_figure("svg", "queries", "Queries", figure=QUERIES + "{comparison}", comparison="{comparison}"),
        pdf=shown_figure("pdf", "queries", "Queries", figure=QUERIES + "{comparison}", comparison="{comparison}"),
        png=result("figure", figure=QUERIES + "{comparison}", figure_format="png"),
    log:
        result("log", job="queries_figure/{comparison}"),
    wildcard_constraints:
        comparison=one_of(figures.queries_figures(EXPERIMENT)),
    params:
        code=code("reports/draw_queries.py"),
        settings=lambda wildcards: settings(**figures.queries_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/report.yaml"
    message:
        "queries_figure {wildcards.comparison}"
    shell:
        "python {params.code[script]:q} --differences {input.differences:q} --table {input.table:q}"
        " --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q} --settings {params.settings:q} --log {log:q}"
