"""Figures: one forest plot per comparison, and one of the comparisons that are drawn together.

In: effects/, meta/, moderators/ of those with subgroups and, where p-values are corrected, tables/comparisons.tsv.
Out: figures/{name}.{svg,pdf,png}. What only changes how a figure looks (labels, titles, which p is
shown) is a setting of the figure and reruns no statistics.
"""

from scripts.reports.planning import figures

FOREST_PLOTS = figures.forest_plots(EXPERIMENT)
ON_AXIS = {name: figures.on_axis(EXPERIMENT, name) for name in FOREST_PLOTS}
SHOWN = {name: [*members, *ON_AXIS[name]] for name, members in FOREST_PLOTS.items()}


rule forest:
    input:
        effects=lambda wildcards: job_files.of_comparisons(EXPERIMENT, "effects", FOREST_PLOTS[wildcards.comparison]),
        meta=lambda wildcards: job_files.of_comparisons(EXPERIMENT, "meta", FOREST_PLOTS[wildcards.comparison]),
        moderators=lambda wildcards: moderation.subgrouped(EXPERIMENT, FOREST_PLOTS[wildcards.comparison]),
        axis_effects=lambda wildcards: job_files.of_comparisons(EXPERIMENT, "effects", ON_AXIS[wildcards.comparison]),
        axis_meta=lambda wildcards: job_files.of_comparisons(EXPERIMENT, "meta", ON_AXIS[wildcards.comparison]),
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
        code=comparing("reports/draw_forest.py", lambda wildcards: SHOWN[wildcards.comparison]),
        settings=lambda wildcards: settings(**figures.forest_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/report.yaml"
    message:
        "forest {wildcards.comparison}"
    shell:
        "python {params.code[script]:q} --effects {input.effects:q} --meta {input.meta:q} --moderators {input.moderators:q}"
        " --comparisons {input.comparisons:q} --axis-effects {input.axis_effects:q} --axis-meta {input.axis_meta:q}"
        " --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q}"
        " --settings {params.settings:q} --log {log:q}"
