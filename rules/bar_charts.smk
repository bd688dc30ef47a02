"""Bar charts of means, the systems of one model beside one another, with a baseline as a line.

In: tables/means.tsv. Out: figures/chart-{name}.{svg,pdf,png}.
"""

from scripts.experiment.charts import CHART


rule chart:
    input:
        means=result("means"),
    output:
        svg=shown_figure("svg", "chart", "Means", figure=CHART + "{chart}", chart="{chart}"),
        pdf=shown_figure("pdf", "chart", "Means", figure=CHART + "{chart}", chart="{chart}"),
        png=result("figure", figure=CHART + "{chart}", figure_format="png"),
    log:
        result("log", job="chart/{chart}"),
    wildcard_constraints:
        chart=one_of(EXPERIMENT.charts),
    params:
        code=code("reports/draw_bars.py"),
        settings=lambda wildcards: settings(**EXPERIMENT.charts[wildcards.chart].settings()),
    conda:
        "../envs/report.yaml"
    message:
        "chart {wildcards.chart}"
    shell:
        "python {params.code[script]:q} --means {input.means:q}"
        " --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q}"
        " --settings {params.settings:q} --log {log:q}"
