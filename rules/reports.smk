"""Reports: tables, the page that shows everything, and published numbers beside ours.

In: data/*/statistics.json, tables/means.tsv, tables/comparisons.tsv, effects/, meta/, figures/, all timing files.
Out: tables/*.{tsv,md,tex}, tables/effects/{comparison}.{tsv,md,tex}, summary.md, published-versus-ours.{tsv,md}.
"""

from scripts.common.describe import datasets_learnt, describe

EFFECTS = expand(results("effects/{comparison}.tsv"), comparison=EXPERIMENT.comparisons)
META = expand(results("meta/{comparison}.json"), comparison=EXPERIMENT.comparisons)
FIGURES = [*DRAWN, *CHARTS, *(COST_FIGURE + name for name in COST_FIGURES)]
TABLES = expand(results("tables/effects/{name}.{kind}"), name=EXPERIMENT.comparisons, kind=["tsv", "md", "tex"])
TIMES = [f"tables/{name}-times" for name in ("inference", "fine-tuning")] if FITTED_SYSTEMS else []
# The page names these and does not hold them: it does not change when one of them is made again.
NAMED_IN_SUMMARY = expand(results("figures/{name}.{kind}"), name=FIGURES, kind=["svg", "pdf", "png"]) + TABLES
NAMED_IN_SUMMARY += expand(results("{table}.{kind}"), table=TIMES, kind=["tsv", "md", "tex"])


def table_settings():
    """How the numbers of all comparisons are shown in tables."""
    shown = {name: figure_settings(name) for name in EXPERIMENT.comparisons}
    looks = ("title", "width")
    return {name: {k: v for k, v in one.items() if k not in looks} for name, one in shown.items()}


def summary_settings(wildcards):
    learnt = {name: datasets_learnt(EXPERIMENT, system) for name, system in EXPERIMENT.systems.items()}
    return settings(
        experiment=EXPERIMENT.name,
        measures=list(dict.fromkeys(name for task in TASKS.values() for name in task.measures)),
        sources={name: {k: one[k] for k in ("location", "licence")} for name, one in PREPARED.items()},
        systems={name: describe(EXPERIMENT, system) for name, system in EXPERIMENT.systems.items()},
        trained={n: [t.folder for t in EXPERIMENT.tasks.values() if t.dataset in d] for n, d in learnt.items() if d},
        together=EXPERIMENT.figures,
        charts=CHARTS,
        costs=[COST_FIGURE + name for name in COST_FIGURES],
        labels=LABELS,
        comparisons=table_settings(),
    )


rule datasets_table:
    input:
        **code("reports/datasets_table.py"),
        statistics=expand(results("data/{dataset}/statistics.json"), dataset=PREPARED),
    output:
        table=results("tables/datasets.tsv"),
    log:
        results("logs/datasets_table.log"),
    conda:
        "../envs/report.yaml"
    message:
        "datasets_table"
    shell:
        "python {input.script:q} --statistics {input.statistics:q} --table {output.table:q} 2>&1 | tee {log:q}"


rule tables:
    input:
        **code("reports/tables.py"),
        effects=EFFECTS,
        meta=META,
        comparisons=results("tables/comparisons.tsv"),
    output:
        effects=TABLES,
        comparisons=expand(results("tables/comparisons.{kind}"), kind=["md", "tex"]),
    log:
        results("logs/tables.log"),
    params:
        settings=settings(labels=LABELS, comparisons=table_settings()),
    conda:
        "../envs/report.yaml"
    message:
        "tables"
    shell:
        "python {input.script:q} --effects {input.effects:q} --meta {input.meta:q} --comparisons {input.comparisons:q}"
        " --tables $(dirname {input.comparisons:q}) --settings {params.settings:q} 2>&1 | tee {log:q}"


rule published:
    input:
        **code("reports/published.py"),
        published=EXPERIMENT.published["file"] if EXPERIMENT.published else [],
        means=results("tables/means.tsv"),
        effects=EFFECTS,
        meta=META,
    output:
        table=results("published-versus-ours.tsv"),
        page=results("published-versus-ours.md"),
    log:
        results("logs/published.log"),
    params:
        settings=settings(beside=EXPERIMENT.published["beside"] if EXPERIMENT.published else {}),
    conda:
        "../envs/report.yaml"
    message:
        "published"
    shell:
        "python {input.script:q} --published {input.published:q} --means {input.means:q} --effects {input.effects:q}"
        " --meta {input.meta:q} --table {output.table:q} --page {output.page:q} --settings {params.settings:q}"
        " 2>&1 | tee {log:q}"


rule summary:
    input:
        **code("reports/summary.py"),
        datasets=results("tables/datasets.tsv"),
        means=results("tables/means.tsv"),
        comparisons=results("tables/comparisons.tsv"),
        costs=results("tables/costs.tsv"),
        effects=EFFECTS,
        meta=META,
        published=results("published-versus-ours.tsv") if EXPERIMENT.published else [],
        selected=results("tables/selected-seeds.tsv") if SELECTIONS else [],
    output:
        summary=results("summary.md"),
    log:
        results("logs/summary.log"),
    params:
        settings=summary_settings,
    conda:
        "../envs/report.yaml"
    message:
        "summary"
    shell:
        "python {input.script:q} --datasets {input.datasets:q} --means {input.means:q}"
        " --comparisons {input.comparisons:q} --costs {input.costs:q} --effects {input.effects:q} --meta {input.meta:q}"
        " --published {input.published:q} --selected {input.selected:q} --summary {output.summary:q} --settings {params.settings:q} 2>&1 | tee {log:q}"
