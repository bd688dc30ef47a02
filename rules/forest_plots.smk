"""Figures: one forest plot per comparison, and one of the comparisons that are drawn together.

In: effects/, meta/ and, where p-values are corrected, tables/comparisons.tsv. Out: figures/{name}.{svg,pdf,png}. What only changes how a figure looks (labels, titles, which p is
shown) is a setting of the figure and reruns no statistics.
"""

from scripts.reports.planning import figures

FOREST_PLOTS = figures.forest_plots(EXPERIMENT)


rule forest:
    input:
        unpack(lambda wildcards: comparing("reports/draw_forest.py", FOREST_PLOTS[wildcards.comparison])),
        effects=lambda wildcards: job_files.of_comparisons(EXPERIMENT, "effects", FOREST_PLOTS[wildcards.comparison]),
        meta=lambda wildcards: job_files.of_comparisons(EXPERIMENT, "meta", FOREST_PLOTS[wildcards.comparison]),
        comparisons=lambda wildcards: figures.adjusting_table(EXPERIMENT, wildcards.comparison),
    output:
        svg=shown_figure("svg", "forest", "Forest plots", figure="{comparison}", comparison="{comparison}"),
        pdf=shown_figure("pdf", "forest", "Forest plots", figure="{comparison}", comparison="{comparison}"),
        png=result("figure", figure="{comparison}", figure_format="png"),
    log:
        result("log", job="forest/{comparison}"),
    wildcard_constraints:
        comparison=one_of(FOREST_PLOTS),
    params:
        settings=lambda wildcards: settings(**figures.forest_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/report.yaml"
    message:
        "forest {wildcards.comparison}"
    shell:
        "python {input.script:q} --effects {input.effects:q} --meta {input.meta:q} --comparisons {input.comparisons:q}"
        " --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q}"
        " --settings {params.settings:q} --log {log:q}"
