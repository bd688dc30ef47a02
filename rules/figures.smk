"""Figures: forest plots, and all figures that a single script draws, as planned by their stages.

In: effects/, meta/, tables/, timings and any other data that a figure shows. Out: figures/{figure}.{svg,pdf,png}, and
.txt and .tex if its notes are in a caption. Options that only change the appearance of a figure (labels, titles, which
p is shown) are settings of the figure and rerun no statistics.
"""

from functools import cache

from ranktrial.engine.rule_helpers import one_of
from ranktrial.experiment.comparisons import loaded_modules
from scripts.learning_to_rank import planning as learning
from scripts.reports.planning import figures
from scripts.reports.planning.figures import drawings
from scripts.reports.planning.labels import system_labels
from scripts.study_design import planning as study

DRAWINGS = drawings(EXPERIMENT) | learning.drawings(EXPERIMENT) | study.drawings(EXPERIMENT, system_labels(EXPERIMENT))


FONT = {"font": EXPERIMENT.font} if EXPERIMENT.font else {}


localrules:
    figure,
    caption,


@cache
def drawing(figure):
    """The planned job that draws a figure."""
    return DRAWINGS[figure]()


def shown_figure(figure_format):
    """A file of a figure, as an output that `snakemake --report` shows."""
    file = result("figure", figure_format=figure_format)
    return shown(file, "figure", category, figure="{figure}", file=figure_format)


def category(wildcards):
    """The category of a figure in Snakemake's report."""
    return drawing(wildcards.figure).category


use rule in_report as figure with:
    input:
        unpack(lambda wildcards: drawing(wildcards.figure).inputs),
    output:
        svg=shown_figure("svg"),
        pdf=shown_figure("pdf"),
        png=result("figure", figure_format="png"),
    log:
        result("log", job="figure/{figure}"),
    wildcard_constraints:
        figure=one_of(DRAWINGS),
    params:
        **job(
            code(
                lambda wildcards: drawing(wildcards.figure).script,
                lambda wildcards: loaded_modules(
                    EXPERIMENT.comparisons[name] for name in drawing(wildcards.figure).compared
                ),
            ),
            lambda wildcards: FONT | drawing(wildcards.figure).settings,
        ),


use rule in_report as caption with:
    input:
        unpack(lambda wildcards: drawing(wildcards.figure).inputs),
    output:
        text=result("caption", caption_format="txt"),
        tex=result("caption", caption_format="tex"),
    log:
        result("log", job="caption/{figure}"),
    wildcard_constraints:
        figure=one_of(figures.captioned(EXPERIMENT)),
    params:
        **job(
            code(
                "reports/write_caption.py",
                lambda wildcards: loaded_modules(
                    EXPERIMENT.comparisons[name] for name in drawing(wildcards.figure).compared
                ),
            ),
            lambda wildcards: FONT | drawing(wildcards.figure).settings,
        ),
