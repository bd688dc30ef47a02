"""Reports: tables, a forest plot a comparison, and the page that shows them.

In: data/*/statistics.json, tables/means.tsv, effects/, meta/, all timing files.
Out: figures/{comparison}.{svg,pdf,png}, tables/*.tsv, summary.md.
"""

FITTED_SYSTEMS = {name: system for name, system in EXPERIMENT.systems.items() if system.kind != "external"}


def forest_settings(wildcards):
    comparison = EXPERIMENT.comparisons[wildcards.comparison]
    judged = next((name for name in EXPERIMENT.measures if name.startswith("Judged@")), "")
    kept = {key: comparison.settings[key] for key in ("alpha", "estimator", "interval")}
    return settings(**kept, **comparison.figure, judged=judged)


def timings():
    """Run timing -> the timing files of the checkpoint and the encoding behind the run."""
    found = {}
    for system in FITTED_SYSTEMS.values():
        for task in EXPERIMENT.tasks.values():
            for seed in system.seeds:
                beside = {}
                if system.recipe != UNTRAINED:
                    beside["training"] = checkpoint_of(system, seed) + ".timing.json"
                if system.kind == "retrieve":
                    encoded = checkpoint_of(system, seed).removeprefix(results("models/"))
                    beside["encoding"] = results(f"embeddings/{task.dataset}/{encoded}.timing.json")
                found[results(f"runs/{task.folder}/{system.name}/seed-{seed}.timing.json")] = beside
    return found


def describe(system):
    """A system in words."""
    if system.kind == "bm25":
        return "BM25 (Lucene), " + ("k1 and b tuned on dev" if "measure" in system.settings else
            f"k1 = {system.settings['k1']}, b = {system.settings['b']}")
    if system.kind == "external":
        return "external run files"
    model = EXPERIMENT.models[system.model]
    words = f"{model['type']} {system.model} ({model['weights']}, {model['max_length']} tokens)"
    if system.recipe != UNTRAINED:
        words += f", fine-tuned with recipe {system.recipe} on {EXPERIMENT.recipes[system.recipe]['train_on']}"
        words += f", {len(system.seeds)} seed" + "s" * (len(system.seeds) > 1)
    if system.first_stage:
        words += f", re-ranks the top {system.depth} of {system.first_stage}"
    return words


def summary_settings(wildcards):
    trained = {name: datasets_learnt(system) for name, system in EXPERIMENT.systems.items()}
    return settings(
        experiment=EXPERIMENT.name,
        measures=EXPERIMENT.measures,
        sources={name: {k: one[k] for k in ("location", "licence")} for name, one in PREPARED.items()},
        systems={name: describe(system) for name, system in EXPERIMENT.systems.items()},
        trained={n: [t.folder for t in EXPERIMENT.tasks.values() if t.dataset in d] for n, d in trained.items() if d},
    )


def datasets_learnt(system):
    """The datasets on which a system's recipe, and those it starts from, were trained."""
    found, recipe = [], system.recipe
    while recipe and recipe != UNTRAINED:
        found.append(EXPERIMENT.recipes[recipe]["train_on"])
        recipe = EXPERIMENT.recipes[recipe]["start_from"]
    return found


rule forest:
    input:
        **code("reports/draw_forest.py"),
        effects=results("effects/{comparison}.tsv"),
        meta=results("meta/{comparison}.json"),
    output:
        svg=results("figures/{comparison}.svg"),
        pdf=results("figures/{comparison}.pdf"),
        png=results("figures/{comparison}.png"),
    log:
        results("logs/forest/{comparison}.log"),
    params:
        settings=forest_settings,
    conda:
        "../envs/report.yaml"
    message:
        "forest {wildcards.comparison}"
    shell:
        "python {input.script:q} --effects {input.effects:q} --meta {input.meta:q}"
        " --figure $(echo {output.svg:q} | sed 's/[.]svg$//') --settings {params.settings:q} 2>&1 | tee {log:q}"


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


rule costs:
    input:
        **code("reports/costs.py"),
        timing=list(timings()),
        beside=sorted({path for paths in timings().values() for path in paths.values()}),
    output:
        table=results("tables/costs.tsv"),
    log:
        results("logs/costs.log"),
    params:
        settings=settings(beside=timings()),
    conda:
        "../envs/report.yaml"
    message:
        "costs"
    shell:
        "python {input.script:q} --timing {input.timing:q} --table {output.table:q}"
        " --settings {params.settings:q} 2>&1 | tee {log:q}"


rule summary:
    input:
        **code("reports/summary.py"),
        datasets=results("tables/datasets.tsv"),
        means=results("tables/means.tsv"),
        comparisons=results("tables/comparisons.tsv"),
        costs=results("tables/costs.tsv"),
        meta=expand(results("meta/{comparison}.json"), comparison=EXPERIMENT.comparisons),
        # the page names the figures; it does not change when one is redrawn
        figures=ancient(expand(results("figures/{comparison}.svg"), comparison=EXPERIMENT.comparisons)),
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
        " --comparisons {input.comparisons:q} --costs {input.costs:q} --meta {input.meta:q}"
        " --figures {input.figures:q} --summary {output.summary:q} --settings {params.settings:q} 2>&1 | tee {log:q}"
