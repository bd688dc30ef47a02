"""ranktrial: from raw test collections to forest plots. See README.md; `make run` runs config/config.yaml."""

from snakemake.utils import min_version

min_version("9.27")

if not workflow.configfiles:  # they replace the example; --replace-workflow-config would not reach jobs elsewhere

    configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/datasets.smk"
include: "rules/passages.smk"
include: "rules/check.smk"
include: "rules/bm25.smk"
include: "rules/further_texts.smk"
include: "rules/training.smk"
include: "rules/distillation.smk"
include: "rules/features.smk"
include: "rules/encoding.smk"
include: "rules/shards.smk"
include: "rules/inference.smk"
include: "rules/multi_vector.smk"
include: "rules/sparse.smk"
include: "rules/selection.smk"
include: "rules/choice.smk"
include: "rules/export.smk"
include: "rules/index_shards.smk"
include: "rules/run_shards.smk"
include: "rules/score_shards.smk"
include: "rules/quantised.smk"
include: "rules/approximate.smk"
include: "rules/systems.smk"
include: "rules/evaluation.smk"
include: "rules/synthesis.smk"
include: "rules/multiple_comparisons.smk"
include: "rules/moderators.smk"
include: "rules/forest_plots.smk"
include: "rules/influence.smk"
include: "rules/queries.smk"
include: "rules/bar_charts.smk"
include: "rules/transfer.smk"
include: "rules/costs.smk"
include: "rules/published.smk"
include: "rules/tables.smk"
include: "rules/study_design.smk"
include: "rules/page.smk"
include: "rules/archive.smk"


rule all:
    default_target: True
    input:
        shown=[result("summary"), result("report"), *pages.named_in_summary(EXPERIMENT), *study.asked(EXPERIMENT)],
        features=features.asked(EXPERIMENT),
        importance=learning.asked(EXPERIMENT),
        deleted=deleted,


onstart:
    begin()


onsuccess:
    print_where_results_are()


onerror:
    print_errors_of_logs()
