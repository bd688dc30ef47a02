"""Bar charts of means, the systems of one model beside one another, with a baseline as a line.

In: tables/means.tsv. Out: figures/chart-{name}.{svg,pdf,png}.
"""

from scripts.experiment.charts import CHART

CHARTS = [CHART + name for name in EXPERIMENT.charts]


rule chart:
    input:
        **code("reports/draw_bars.py"),
        means=results("tables/means.tsv"),
    output:
        svg=shown(results(f"figures/{CHART}{{chart}}.svg"), "chart", "Means", chart="{chart}", file="svg"),
        pdf=shown(results(f"figures/{CHART}{{chart}}.pdf"), "chart", "Means", chart="{chart}", file="pdf"),
        png=results(f"figures/{CHART}{{chart}}.png"),
    log:
        results("logs/chart/{chart}.log"),
    wildcard_constraints:
        chart=one_of(EXPERIMENT.charts),
    params:
        settings=lambda wildcards: settings(**EXPERIMENT.charts[wildcards.chart].settings()),
    conda:
        "../envs/report.yaml"
    message:
        "chart {wildcards.chart}"
    shell:
        "python {input.script:q} --means {input.means:q} --figure $(echo {output.svg:q} | sed 's/[.]svg$//')"
        " --settings {params.settings:q} --log {log:q}"
