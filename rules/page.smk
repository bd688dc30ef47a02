"""Pages: the experiment as one HTML file to read and to send, and a summary in Markdown.

In: tables/, effects/, meta/, multiple-comparisons/, curves/, figures/, training logs, all timing files, metrics of the systems that differ in their
number of training queries, records of mined negatives. Out: report.html, summary.md. (`snakemake --report FILE.zip` makes Snakemake's own report.)
"""

from functools import cache

from scripts.engine.rule_graph import deleted_from, deleted_outputs, rule_graph
from scripts.experiment.results_paths import HEAVY, kind
from scripts.reports.planning import families, pages, transfer


report: "captions/workflow.rst"


@cache
def graph():
    """The graph of the rules behind the results."""
    made = workflow.dag.job_factory.cache.values() if workflow.dag is not None else ()
    return rule_graph(workflow.rules, rules.all.input.shown, made)


def may_be_deleted(path):
    """Whether a file is a checkpoint, an embedding, an index or a text, which are deleted to save space."""
    return kind(path) in HEAVY


@cache
def gone():
    """The files that jobs behind the results had written and that were deleted since, of the kinds in every archive."""
    if all(map(may_be_deleted, deleted_from(RESULTS))):
        return []
    missing = [path for path in deleted_outputs(graph()) if not may_be_deleted(path)]
    if missing:
        message = f"{len(missing)} deleted files are made again, with all that depends on them, such as {missing[0]}"
        print(f"{message} (that one alone: snakemake {missing[0]} --configfile {CONFIG_NAME})", file=sys.stderr)
    return missing


def deleted(wildcards):
    """The deleted files, which are made again although the files made from them still exist."""
    return gone()


rule report:
    input:
        style=repository("scripts/reports/writing/page.css"),
        page_script=repository("scripts/reports/writing/page.js"),
        datasets=result("datasets_table"),
        means=result("means"),
        comparisons=result("comparisons", table_format="tsv"),
        costs=result("costs"),
        effects=EFFECTS,
        meta=META,
        moderators=moderation.moderators(EXPERIMENT),
        figures=figures.figure_files(EXPERIMENT, ("svg",)),
        families=families.family_files(EXPERIMENT, "family_table", table_format="tsv"),
        family_records=families.family_files(EXPERIMENT, "family"),
        family_figures=families.family_figures(EXPERIMENT, ("svg",)),
        training_logs=pages.training_logs(EXPERIMENT),
        timing=pages.timing_files(EXPERIMENT),
        metrics=pages.sizes_metrics(EXPERIMENT),
        published=published.table(EXPERIMENT),
        selected=pages.selected_seeds(EXPERIMENT),
        chosen=pages.chosen_recipes(EXPERIMENT),
        matrices=transfer.matrix_tables(EXPERIMENT, ("tsv",)),
        curves=transfer.curve_records(EXPERIMENT),
        mined=mining.records(EXPERIMENT),
    output:
        summary=result("summary"),
        page=shown(result("report"), "page", "Report", page="report"),
    log:
        result("log", job="report"),
    params:
        code=code("reports/report.py", LOADED),
        settings=lambda wildcards: settings(
            **pages.page_settings(EXPERIMENT, CAUTIONS),
            **graph().drawn(rule.name for rule in workflow.rules),
        ),
    conda:
        "../envs/report.yaml"
    message:
        "report"
    shell:
        "python {params.code[script]:q} --datasets {input.datasets:q} --means {input.means:q} --comparisons {input.comparisons:q}"
        " --costs {input.costs:q}"
        " --effects {input.effects:q} --meta {input.meta:q} --moderators {input.moderators:q}"
        " --figures {input.figures:q} --timing {input.timing:q} --families {input.families:q}"
        " --family-records {input.family_records:q} --family-figures {input.family_figures:q}"
        " --training-log {input.training_logs:q} --metrics {input.metrics:q} --published {input.published:q}"
        " --selected {input.selected:q} --chosen {input.chosen:q} --matrices {input.matrices:q} --curves {input.curves:q}"
        " --mined {input.mined:q} --summary {output.summary:q}"
        " --page {output.page:q} --settings {params.settings:q} --log {log:q}"
