"""Selection: of a system's seeds, the one that is kept for other datasets, by its runs on one task.

In: models/{model}/{recipe}/seed-{seed}, runs/{task}/{system}/seed-{seed}.trec.gz, qrels. Out, for a system that selects:
models/{model}/{recipe}/seed-selected-{system} with the seed's timing and what each seed scored (json), and of all such
systems tables/selected-seeds.tsv.
"""


def seeds_to_select_from(pattern):
    """The files of all seeds of a system that selects among them."""

    def files(wildcards):
        system = EXPERIMENT.systems[wildcards.system]
        task = EXPERIMENT.selection_task(system.selection).folder
        names = {"task": task, "system": system.name, "model": system.model, "recipe": system.recipe}
        return expand(results(pattern), **names, seed=system.seeds)

    return files


def selection_settings(wildcards):
    selection = SELECTIONS[wildcards.system]
    task = EXPERIMENT.selection_task(selection)
    how = {"score": selection.score, "formula": selection.formula}
    return settings(system=wildcards.system, task=task.name, split=task.split, **how)


rule select_seed:
    input:
        **code("selection/select_seed.py"),
        checkpoints=seeds_to_select_from("models/{model}/{recipe}/seed-{seed}"),
        timings=seeds_to_select_from("models/{model}/{recipe}/seed-{seed}.timing.json"),
        runs=seeds_to_select_from("runs/{task}/{system}/seed-{seed}.trec.gz"),
        qrels=lambda wildcards: qrels_of(EXPERIMENT.selection_task(SELECTIONS[wildcards.system])),
    output:
        checkpoint=directory(results("models/{model}/{recipe}/seed-selected-{system}")),
        timing=results("models/{model}/{recipe}/seed-selected-{system}.timing.json"),
        selection=results("models/{model}/{recipe}/seed-selected-{system}.json"),
    log:
        results("logs/select_seed/{model}/{recipe}/{system}.log"),
    wildcard_constraints:
        system=one_of(SELECTIONS),
    params:
        settings=selection_settings,
    conda:
        "../envs/evaluation.yaml"
    message:
        "select_seed {wildcards.system}"
    shell:
        "python {input.script:q} --checkpoints {input.checkpoints:q} --timings {input.timings:q} --runs {input.runs:q}"
        " --qrels {input.qrels:q} --checkpoint {output.checkpoint:q} --timing {output.timing:q}"
        " --selection {output.selection:q} --settings {params.settings:q} --log {log:q}"


rule selected_seeds:
    input:
        **code("selection/selected_seeds.py"),
        selections=[checkpoint_of(EXPERIMENT.systems[name], SELECTED) + ".json" for name in SELECTIONS],
    output:
        table=shown(results("tables/selected-seeds.tsv"), "selected", "Tables", table="selected seeds"),
    log:
        results("logs/selected_seeds.log"),
    conda:
        "../envs/evaluation.yaml"
    message:
        "selected_seeds"
    shell:
        "python {input.script:q} --selections {input.selections:q} --table {output.table:q} --log {log:q}"
