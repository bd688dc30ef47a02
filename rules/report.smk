"""The report: the experiment in one HTML file, a summary in Markdown, and a comparison with published numbers.

In: tables/, effects/, meta/, multiple-comparisons/, curves/, figures/, training logs, all timing files, metrics of the
systems that differ in their number of training queries, records of mined negatives, importance of features;
config/published/, Anserini's reference scores. Out: report.html, summary.md, published-versus-ours.{tsv,md} and, with a
mapping, .html. (`snakemake --report FILE.zip` makes Snakemake's own report.)
"""

from ranktrial.engine.rule_helpers import settings
from ranktrial.experiment import job_files
from ranktrial.experiment.comparisons import loaded_modules
from scripts.bm25 import planning as bm25
from scripts.evaluation import planning as evaluation
from scripts.explorer import planning as explorer
from scripts.learning_to_rank import planning as learning
from scripts.reports.planning import figures, pages
from scripts.training import planning as training

PUBLISHED_FILES = pages.user_files(EXPERIMENT)
BESIDE_PUBLISHED = pages.compared_with(EXPERIMENT)


localrules:
    report,
    published,


report: "captions/workflow.rst"


rule report:
    input:
        style=repository("ranktrial/reports/writing/page.css"),
        page_script=repository("ranktrial/reports/writing/page.js"),
        datasets=result("datasets_table"),
        means=result("means"),
        comparisons=result("comparisons", table_format="tsv"),
        costs=result("costs"),
        effects=job_files.of_comparisons(EXPERIMENT, "effects"),
        meta=job_files.of_comparisons(EXPERIMENT, "meta"),
        moderators=figures.moderators(EXPERIMENT),
        figures=figures.figure_files(EXPERIMENT, ("svg",)),
        families=figures.family_files(EXPERIMENT, "family_table", table_format="tsv"),
        family_records=figures.family_files(EXPERIMENT, "family"),
        family_figures=figures.family_figures(EXPERIMENT, ("svg",)),
        training_logs=pages.training_logs(EXPERIMENT),
        timing=pages.timing_files(EXPERIMENT),
        metrics=pages.sizes_metrics(EXPERIMENT),
        published=pages.table(EXPERIMENT),
        selected=pages.selected_seeds(EXPERIMENT),
        chosen=pages.chosen_recipes(EXPERIMENT),
        matrices=figures.matrix_tables(EXPERIMENT, ("tsv",)),
        curves=figures.curve_records(EXPERIMENT),
        mined=training.mining_records(EXPERIMENT),
        extremes=result("extreme_queries") if explorer.explored(EXPERIMENT) else [],
        importances=learning.all_tables(EXPERIMENT),
        judges=pages.judge_tables(EXPERIMENT, ("tsv",)),
    output:
        summary=result("summary"),
        page=shown(result("report"), "page", "Report", page="report"),
    log:
        result("log", job="report"),
    params:
        code=code("reports/report.py", loaded_modules(EXPERIMENT.comparisons.values())),
        settings=lambda wildcards: settings(
            **pages.page_settings(EXPERIMENT, CAUTIONS),
            **learning.on_pages(EXPERIMENT),
            **graph().drawn(rule.name for rule in workflow.rules),
        ),
    conda:
        "../envs/report.yaml"
    shell:
        "python {params.code[script]:q} --datasets {input.datasets:q} --means {input.means:q} --comparisons {input.comparisons:q}"
        " --costs {input.costs:q}"
        " --effects {input.effects:q} --meta {input.meta:q} --moderators {input.moderators:q}"
        " --figures {input.figures:q} --timing {input.timing:q} --families {input.families:q}"
        " --family-records {input.family_records:q} --family-figures {input.family_figures:q}"
        " --training-log {input.training_logs:q} --metrics {input.metrics:q} --published {input.published:q}"
        " --selected {input.selected:q} --chosen {input.chosen:q} --matrices {input.matrices:q} --curves {input.curves:q}"
        " --mined {input.mined:q} --extremes {input.extremes:q} --importances {input.importances:q}"
        " --judges {input.judges:q} --summary {output.summary:q}"
        " --page {output.page:q} --settings {params.settings:q} --log {log:q}"


rule published:
    input:
        style=repository("ranktrial/reports/writing/page.css") if pages.mapping(EXPERIMENT) else [],
        page_script=repository("ranktrial/reports/writing/page.js") if pages.mapping(EXPERIMENT) else [],
        published=PUBLISHED_FILES.get("published", []),
        references=bm25.references(EXPERIMENT),
        mapping=PUBLISHED_FILES.get("mapping", []),
        means=result("means"),
        ascending=result("ascending_means") if evaluation.ascending_metrics(EXPERIMENT) else [],
        datasets=result("datasets_table"),
        times=BESIDE_PUBLISHED["times"],
        importances=[table for tables in pages.importances(EXPERIMENT).values() for table in tables],
        effects=BESIDE_PUBLISHED["effects"],
        meta=BESIDE_PUBLISHED["meta"],
        matrices=BESIDE_PUBLISHED["matrices"],
    output:
        table=shown(result("published_table"), "published", "Tables", table="published versus ours"),
        page=result("published_page", page_format="md"),
        html=pages.page_as_html(EXPERIMENT),
    log:
        result("log", job="published"),
    params:
        code=code("reports/published.py"),
        settings=lambda wildcards: settings(**pages.published_settings(EXPERIMENT)),
    conda:
        "../envs/report.yaml"
    shell:
        "python {params.code[script]:q} --published {input.published:q} {input.references:q} --mapping {input.mapping:q} --means {input.means:q}"
        " --ascending {input.ascending:q} --datasets {input.datasets:q} --times {input.times:q}"
        " --importances {input.importances:q} --effects {input.effects:q} --meta {input.meta:q} --matrices {input.matrices:q}"
        " --table {output.table:q} --page {output.page:q} --html {output.html:q} --settings {params.settings:q} --log {log:q}"
