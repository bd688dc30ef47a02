"""Moderators: what explains that the effects of a comparison differ between tasks.

In: effects/, meta/ and what moderators need of the tasks, data/*/statistics.json and qrels. Out: moderators/{comparison}.json,
tables/moderators/{comparison}.{tsv,md,tex}, figures/bubble-{comparison}-{moderator}.{svg,pdf,png}.
"""

from scripts.experiment import moderators
from scripts.experiment.moderators import BUBBLE
from scripts.reports.planning import moderation

BUBBLE_PLOTS = moderation.bubble_plots(EXPERIMENT)


rule moderate:
    input:
        effects=result("effects"),
        meta=result("meta"),
        statistics=lambda wildcards: synthesis.moderation_statistics(EXPERIMENT, wildcards.comparison),
        qrels=lambda wildcards: synthesis.moderation_qrels(EXPERIMENT, wildcards.comparison),
    output:
        moderators=result("moderators"),
    log:
        result("log", job="moderate/{comparison}"),
    wildcard_constraints:
        comparison=one_of(moderation.moderated(EXPERIMENT)),
    params:
        code=comparing("synthesis/moderate.py", lambda wildcards: [wildcards.comparison], moderators.sources),
        settings=lambda wildcards: settings(**synthesis.moderation_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "moderate {wildcards.comparison}"
    shell:
        "python {params.code[script]:q} --effects {input.effects:q} --meta {input.meta:q} --statistics {input.statistics:q}"
        " --qrels {input.qrels:q} --moderators {output.moderators:q} --settings {params.settings:q} --log {log:q}"


rule moderators_tables:
    input:
        moderators=result("moderators"),
    output:
        table=shown(
            result("moderators_table", table_format="tsv"),
            "moderators",
            "Tables",
            table="moderators",
            comparison="{comparison}",
        ),
        page=result("moderators_table", table_format="md"),
        tex=result("moderators_table", table_format="tex"),
    log:
        result("log", job="moderators_tables/{comparison}"),
    params:
        code=code("reports/moderator_tables.py"),
        settings=lambda wildcards: settings(**moderation.table_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/report.yaml"
    message:
        "moderators_tables {wildcards.comparison}"
    shell:
        "python {params.code[script]:q} --moderators {input.moderators:q} --table {output.table:q} --page {output.page:q}"
        " --tex {output.tex:q} --settings {params.settings:q} --log {log:q}"


rule bubble:
    input:
        effects=lambda wildcards: result("effects", comparison=BUBBLE_PLOTS[BUBBLE + wildcards.bubble][0]),
        moderators=lambda wildcards: result("moderators", comparison=BUBBLE_PLOTS[BUBBLE + wildcards.bubble][0]),
    output:
        svg=shown_figure("svg", "bubble", "Moderators", figure=BUBBLE + "{bubble}", bubble="{bubble}"),
        pdf=shown_figure("pdf", "bubble", "Moderators", figure=BUBBLE + "{bubble}", bubble="{bubble}"),
        png=result("figure", figure=BUBBLE + "{bubble}", figure_format="png"),
    log:
        result("log", job="bubble/{bubble}"),
    wildcard_constraints:
        bubble=one_of(name.removeprefix(BUBBLE) for name in BUBBLE_PLOTS),
    params:
        code=comparing("reports/draw_bubble.py", lambda wildcards: [BUBBLE_PLOTS[BUBBLE + wildcards.bubble][0]]),
        settings=lambda wildcards: settings(**moderation.bubble_settings(EXPERIMENT, BUBBLE + wildcards.bubble)),
    conda:
        "../envs/report.yaml"
    message:
        "bubble {wildcards.bubble}"
    shell:
        "python {params.code[script]:q} --effects {input.effects:q} --moderators {input.moderators:q}"
        " --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q}"
        " --settings {params.settings:q} --log {log:q}"
