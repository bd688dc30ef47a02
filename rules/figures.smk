"""Figures: a forest plot a comparison, one of comparisons drawn together, and effects set against costs.

In: effects/, meta/, the timing files of runs and checkpoints. Out: figures/{name}.{svg,pdf,png}. What only changes how a
figure looks (labels, titles, which p is shown) is a setting of the figure and reruns no statistics.
"""

from scripts.common.comparisons import COST_FIGURE, cost_figures

FITTED_SYSTEMS = {name: system for name, system in EXPERIMENT.systems.items() if system.kind != "external"}
COST_FIGURES = cost_figures(EXPERIMENT.comparisons, set(FITTED_SYSTEMS))
DRAWN = {name: (name,) for name in EXPERIMENT.comparisons} | EXPERIMENT.figures
FIGURES = [*DRAWN, *(COST_FIGURE + name for name in COST_FIGURES)]
LABELS = {
    "tasks": {task.folder: task.label for task in TASKS.values() if task.label != task.folder},
    "systems": {name: system.label for name, system in EXPERIMENT.systems.items() if system.label != name},
}


def figure_settings(name):
    """How the numbers of a comparison are shown, and its figure's looks."""
    comparison = EXPERIMENT.comparisons[name]
    kept = {key: comparison.settings[key] for key in ("alpha", "estimator", "interval")}
    judged = next((name for name in EXPERIMENT.tasks[comparison.tasks[0]].measures if name.startswith("Judged@")), "")
    return kept | {key: value for key, value in comparison.figure.items() if key != "together"} | {"judged": judged}


def forest_settings(wildcards):
    first = EXPERIMENT.comparisons[DRAWN[wildcards.comparison][0]]
    treatments = [EXPERIMENT.comparisons[name].treatment for name in DRAWN[wildcards.comparison]]
    tasks = [EXPERIMENT.tasks[name].folder for name in first.tasks]
    labels = {
        "tasks": {name: label for name, label in LABELS["tasks"].items() if name in tasks},
        "systems": {name: label for name, label in LABELS["systems"].items() if name in [first.control, *treatments]},
    }
    return settings(**figure_settings(first.name), labels=labels)


def drawn(path):
    return lambda wildcards: expand(results(path), name=DRAWN[wildcards.comparison])


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


def cost_systems(name):
    """The systems of a figure of costs, its control first if that has timing."""
    comparisons = [EXPERIMENT.comparisons[one] for one in COST_FIGURES[name]]
    return [one for one in [comparisons[0].control, *(one.treatment for one in comparisons)] if one in FITTED_SYSTEMS]


def cost_timings(wildcards):
    """The part of `timings` that belongs to the systems and tasks of a figure of costs."""
    tasks = EXPERIMENT.comparisons[COST_FIGURES[wildcards.costs][0]].tasks
    systems = cost_systems(wildcards.costs)
    runs = tuple(results(f"runs/{EXPERIMENT.tasks[task].folder}/{name}/") for task in tasks for name in systems)
    return {run: beside for run, beside in timings().items() if run.startswith(runs)}


def cost_settings(wildcards):
    first = EXPERIMENT.comparisons[COST_FIGURES[wildcards.costs][0]]
    labels = {name: label for name, label in LABELS["systems"].items() if name in cost_systems(wildcards.costs)}
    return settings(control=first.control, alpha=first.settings["alpha"], labels=labels, beside=cost_timings(wildcards))


rule forest:
    input:
        **code("reports/draw_forest.py"),
        effects=drawn("effects/{name}.tsv"),
        meta=drawn("meta/{name}.json"),
    output:
        svg=results("figures/{comparison}.svg"),
        pdf=results("figures/{comparison}.pdf"),
        png=results("figures/{comparison}.png"),
    log:
        results("logs/forest/{comparison}.log"),
    wildcard_constraints:
        comparison=one_of(DRAWN),
    params:
        settings=forest_settings,
    conda:
        "../envs/report.yaml"
    shell:
        "python {input.script:q} --effects {input.effects:q} --meta {input.meta:q}"
        " --figure $(echo {output.svg:q} | sed 's/[.]svg$//') --settings {params.settings:q} 2>&1 | tee {log:q}"


rule cost_figure:
    input:
        **code("reports/draw_costs.py"),
        meta=lambda wildcards: expand(results("meta/{name}.json"), name=COST_FIGURES[wildcards.costs]),
        timing=lambda wildcards: sorted(
            {path for run, beside in cost_timings(wildcards).items() for path in [run, *beside.values()]}
        ),
    output:
        svg=results(f"figures/{COST_FIGURE}{{costs}}.svg"),
        pdf=results(f"figures/{COST_FIGURE}{{costs}}.pdf"),
        png=results(f"figures/{COST_FIGURE}{{costs}}.png"),
    log:
        results("logs/cost_figure/{costs}.log"),
    wildcard_constraints:
        costs=one_of(COST_FIGURES),
    params:
        settings=cost_settings,
    conda:
        "../envs/report.yaml"
    shell:
        "python {input.script:q} --meta {input.meta:q} --timing {input.timing:q}"
        " --figure $(echo {output.svg:q} | sed 's/[.]svg$//') --settings {params.settings:q} 2>&1 | tee {log:q}"
