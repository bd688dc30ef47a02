"""Figures: one rule for all kinds (ranktrial/experiment/exhibits), and the captions of forest plots.

In: effects/, meta/, tables/, timings and any other data that a figure shows. Out: figures/{figure}.{svg,pdf,png}, and
.txt and .tex if its notes are in a caption. Options that only change the appearance of a figure (labels, titles, which
p is shown) are settings of the figure and rerun no statistics.
"""

from ranktrial.common.plugins import source as plugin_source
from ranktrial.experiment import exhibits
from ranktrial.experiment.comparisons import loaded_modules
from ranktrial.experiment.exhibits import forest

FONT = {"font": EXPERIMENT.font} if EXPERIMENT.font else {}


localrules:
    figure,
    caption,


def kind_of(wildcards):
    """The module of a figure's kind."""
    return exhibits.figures(EXPERIMENT)[wildcards.figure]


def exhibit(wildcards):
    """What a figure is made of."""
    return exhibits.exhibit(EXPERIMENT, wildcards.figure)


def drawn_with(wildcards):
    """The modules that the job of a figure loads by name: its kind's, and those of the effects that it shows."""
    compared = loaded_modules(EXPERIMENT.comparisons[name] for name in exhibit(wildcards).compared)
    return [plugin_source("ranktrial.reports.figures", kind_of(wildcards).NAME), *compared]


def shown_figure(figure_format):
    """A file of a figure, as an output that `snakemake --report` shows."""
    file = result("figure", figure_format=figure_format)
    return shown(file, "figure", lambda wildcards: kind_of(wildcards).CATEGORY, figure="{figure}", file=figure_format)


use rule in_workflow as figure with:
    input:
        unpack(lambda wildcards: exhibit(wildcards).inputs),
    output:
        svg=shown_figure("svg"),
        pdf=shown_figure("pdf"),
        png=result("figure", figure_format="png"),
    wildcard_constraints:
        figure=one_of(exhibits.figures(EXPERIMENT)),
    params:
        **job("reports/figure.py", lambda wildcards: FONT | exhibit(wildcards).settings, drawn_with)
        | {
            "function": lambda wildcards: kind_of(wildcards).NAME,
            "caption": lambda wildcards, input: kind_of(wildcards).CAPTION,
        },


use rule in_workflow as caption with:
    input:
        unpack(lambda wildcards: exhibit(wildcards).inputs),
    output:
        txt=result("caption", caption_format="txt"),
        tex=result("caption", caption_format="tex"),
    wildcard_constraints:
        figure=one_of(forest.captioned(EXPERIMENT)),
    params:
        **job("reports/figure.py", lambda wildcards: FONT | exhibit(wildcards).settings, drawn_with)
        | {"function": "caption"},
