"""Figures: a forest plot a comparison, and one of the comparisons that are drawn together.

In: effects/, meta/. Out: figures/{name}.{svg,pdf,png}. What only changes how a figure looks (labels, titles, which p is
shown) is a setting of the figure and reruns no statistics.
"""

DRAWN = {name: (name,) for name in EXPERIMENT.comparisons} | EXPERIMENT.figures
LABELS = {
    "tasks": {task.folder: task.label for task in TASKS.values() if task.label != task.folder},
    "systems": {name: system.label for name, system in EXPERIMENT.systems.items() if system.label != name},
}
LABELS["systems"] |= {
    one.named(one.treatment): one.named(EXPERIMENT.systems[one.treatment].label, lambda task: EXPERIMENT.tasks[task].label)
    for one in EXPERIMENT.comparisons.values()
    if one.treatment_on
}


def figure_settings(name):
    """How the numbers of a comparison are shown, and its figure's looks."""
    comparison = EXPERIMENT.comparisons[name]
    kept = {key: comparison.settings[key] for key in ("alpha", "estimator", "interval")}
    judged = next((name for name in EXPERIMENT.tasks[comparison.tasks[0]].measures if name.startswith("Judged@")), "")
    return kept | {key: value for key, value in comparison.figure.items() if key != "together"} | {"judged": judged}


def forest_settings(wildcards):
    first = EXPERIMENT.comparisons[DRAWN[wildcards.comparison][0]]
    compared = [EXPERIMENT.comparisons[name] for name in DRAWN[wildcards.comparison]]
    treatments = [one.named(one.treatment) for one in compared]
    tasks = [EXPERIMENT.tasks[name].folder for name in first.tasks]
    labels = {
        "tasks": {name: label for name, label in LABELS["tasks"].items() if name in tasks},
        "systems": {name: label for name, label in LABELS["systems"].items() if name in [first.control, *treatments]},
    }
    return settings(**figure_settings(first.name), labels=labels)


def drawn(path):
    return lambda wildcards: expand(results(path), name=DRAWN[wildcards.comparison])


rule forest:
    input:
        **code("reports/draw_forest.py"),
        effects=drawn("effects/{name}.tsv"),
        meta=drawn("meta/{name}.json"),
    output:
        svg=shown(results("figures/{comparison}.svg"), "forest", "Forest plots", comparison="{comparison}", file="svg"),
        pdf=shown(results("figures/{comparison}.pdf"), "forest", "Forest plots", comparison="{comparison}", file="pdf"),
        png=results("figures/{comparison}.png"),
    log:
        results("logs/forest/{comparison}.log"),
    wildcard_constraints:
        comparison=one_of(DRAWN),
    params:
        settings=forest_settings,
    conda:
        "../envs/report.yaml"
    message:
        "forest {wildcards.comparison}"
    shell:
        "python {input.script:q} --effects {input.effects:q} --meta {input.meta:q}"
        " --figure $(echo {output.svg:q} | sed 's/[.]svg$//') --settings {params.settings:q} --log {log:q}"
