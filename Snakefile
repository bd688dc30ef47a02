"""ranktrial: from raw test collections to forest plots. See README.md; `make run` runs config/config.yaml."""

from snakemake.utils import min_version

min_version("9.27")

if not workflow.overwrite_configfiles:  # an explicit --configfile replaces the example instead of being merged into it
    configfile: "config/config.yaml"

include: "rules/common.smk"
include: "rules/datasets.smk"
include: "rules/passages.smk"
include: "rules/check.smk"
include: "rules/bm25.smk"
include: "rules/training.smk"
include: "rules/encoding.smk"
include: "rules/inference.smk"
include: "rules/selection.smk"
include: "rules/evaluation.smk"
include: "rules/synthesis.smk"
include: "rules/figures.smk"
include: "rules/charts.smk"
include: "rules/costs.smk"
include: "rules/published.smk"
include: "rules/reports.smk"
include: "rules/report.smk"
include: "rules/archive.smk"


rule all:
    default_target: True
    input:
        shown=[results("summary.md"), results("report.html"), *NAMED_IN_SUMMARY],
        deleted=deleted,


rule prepare:  # on a machine with network: afterwards no other rule needs any
    input:
        expand(results("data/{dataset}/statistics.json"), dataset=PREPARED),
        expand(results(f"models/{{model}}/{UNTRAINED}/seed-0"), model=EXPERIMENT.models),


rule archive:  # of a finished experiment; docs/archive.md
    input:
        results(f"{EXPERIMENT.name}.crate.zip"),


onstart:
    OWN_DATA.begin_run(own_data())
    begin_run(workflow.scheduler._executor, RESULTS)


onsuccess:
    if Path(RESULTS, "report.html").exists():
        print(f"{RESULTS}/report.html, {RESULTS}/summary.md and {RESULTS}/figures/ hold the results")


onerror:
    print_errors_of_logs(STARTED)
