"""Moderators: what explains that the effects of a comparison differ between tasks.

In: effects/ and what moderators need of the tasks, data/*/statistics.json and qrels. Out: moderators/{comparison}.json,
tables/moderators/{comparison}.{tsv,md}, figures/bubble-{comparison}-{moderator}.{svg,pdf,png}.
"""

from scripts.experiment import moderators

MODERATED = synthesis.moderated(EXPERIMENT)


rule moderate:
    input:
        unpack(
            lambda wildcards: comparing(
                "synthesis/moderate.py",
                [wildcards.comparison],
                *moderators.sources(EXPERIMENT.comparisons[wildcards.comparison]),
            )
        ),
        effects=result("effects"),
        statistics=lambda wildcards: synthesis.moderation_statistics(EXPERIMENT, wildcards.comparison),
        qrels=lambda wildcards: synthesis.moderation_qrels(EXPERIMENT, wildcards.comparison),
    output:
        moderators=result("moderators"),
    log:
        result("log", job="moderate/{comparison}"),
    wildcard_constraints:
        comparison=one_of(MODERATED),
    params:
        settings=lambda wildcards: settings(**synthesis.moderation_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "moderate {wildcards.comparison}"
    shell:
        "python {input.script:q} --effects {input.effects:q} --statistics {input.statistics:q} --qrels {input.qrels:q}"
        " --moderators {output.moderators:q} --settings {params.settings:q} --log {log:q}"
