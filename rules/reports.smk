"""Reports: tables, and the page that shows everything.

In: data/*/statistics.json, tables/means.tsv, tables/comparisons.tsv, effects/, meta/, figures/, tables/costs.tsv.
Out: tables/*.{tsv,md,tex}, tables/effects/{comparison}.{tsv,md,tex}, summary.md.
"""

from scripts.experiment.descriptions import datasets_learnt, describe

FIGURES = [*DRAWN, *CHARTS, *(COST_FIGURE + name for name in COST_FIGURES)]
TABLES = expand(results("tables/effects/{name}.{kind}"), name=EXPERIMENT.comparisons, kind=["tsv", "md", "tex"])
# The page names these and does not hold them: it does not change when one of them is made again.
NAMED_IN_SUMMARY = expand(results("figures/{name}.{kind}"), name=FIGURES, kind=["svg", "pdf", "png"]) + TABLES
NAMED_IN_SUMMARY += expand(results("{table}.{kind}"), table=TIMES, kind=["tsv", "md", "tex"])


def table_settings():
    """How the numbers of all comparisons are shown in tables."""
    shown = {name: figure_settings(name) for name in EXPERIMENT.comparisons}
    looks = ("title", "width")
    return {name: {k: v for k, v in one.items() if k not in looks} for name, one in shown.items()}


def summary_values():
    """What the pages say that stands in no table."""
    learnt = {name: datasets_learnt(EXPERIMENT, system) for name, system in EXPERIMENT.systems.items()}
    return dict(
        experiment=EXPERIMENT.name,
        measures=list(dict.fromkeys(name for task in TASKS.values() for name in task.measures)),
        sources={
            name: {"location": location_shown(one["location"]), "licence": one["licence"]} for name, one in PREPARED.items()
        },
        systems={name: describe(EXPERIMENT, system) for name, system in EXPERIMENT.systems.items()},
        trained={n: [t.folder for t in EXPERIMENT.tasks.values() if t.dataset in d] for n, d in learnt.items() if d},
        together=EXPERIMENT.figures,
        charts=CHARTS,
        costs=[COST_FIGURE + name for name in COST_FIGURES],
        labels=LABELS,
        comparisons=table_settings(),
        **({"cautions": CAUTIONS} if CAUTIONS else {}),
    )


def shown_tables():
    """The tables of all comparisons; of each, Snakemake's report shows the one at full precision."""
    numbers = {results(f"tables/effects/{name}.tsv"): name for name in EXPERIMENT.comparisons}
    return [
        shown(path, "effects", "Tables", table="effects", comparison=numbers[path]) if path in numbers else path
        for path in TABLES
    ]


rule datasets_table:
    input:
        **code("reports/datasets_table.py"),
        statistics=expand(results("data/{dataset}/statistics.json"), dataset=PREPARED),
    output:
        table=shown(results("tables/datasets.tsv"), "datasets", "Tables", table="datasets"),
    log:
        results("logs/datasets_table.log"),
    conda:
        "../envs/report.yaml"
    message:
        "datasets_table"
    shell:
        "python {input.script:q} --statistics {input.statistics:q} --table {output.table:q} --log {log:q}"


rule tables:
    input:
        **code("reports/tables.py"),
        effects=EFFECTS,
        meta=META,
        comparisons=results("tables/comparisons.tsv"),
    output:
        effects=shown_tables(),
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
        " --tables $(dirname {input.comparisons:q}) --settings {params.settings:q} --log {log:q}"


rule summary:
    input:
        **code("reports/summary.py"),
        datasets=results("tables/datasets.tsv"),
        means=results("tables/means.tsv"),
        comparisons=results("tables/comparisons.tsv"),
        costs=results("tables/costs.tsv"),
        effects=EFFECTS,
        meta=META,
        selected=results("tables/selected-seeds.tsv") if SELECTIONS else [],
        published=PUBLISHED["table"] if PUBLISHED else [],
    output:
        summary=results("summary.md"),
    log:
        results("logs/summary.log"),
    params:
        settings=lambda wildcards: settings(**summary_values()),
    conda:
        "../envs/report.yaml"
    message:
        "summary"
    shell:
        "python {input.script:q} --datasets {input.datasets:q} --means {input.means:q}"
        " --comparisons {input.comparisons:q} --costs {input.costs:q} --effects {input.effects:q} --meta {input.meta:q}"
        " --published {input.published:q} --selected {input.selected:q} --summary {output.summary:q} --settings {params.settings:q} --log {log:q}"
