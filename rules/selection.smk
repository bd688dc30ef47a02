"""Selection: of a system's seeds, the one that is kept for other datasets, by its runs on one task.

In: models/{model}/{recipe}/seed-{seed}, runs/{task}/{system}/seed-{seed}.trec.gz, qrels. Out, for a system that selects:
models/{model}/{recipe}/seed-selected-{system} with the seed's timing and what each seed scored (json), and of all such
systems tables/selected-seeds.tsv.
"""

from scripts.selection import planning as selection

SELECTED_SEED = "selected-{system}"  # in the place of a seed: the checkpoint that is kept


def of_all_seeds(name):
    """The files `name` of all seeds among which one is chosen."""
    return lambda wildcards: selection.candidates(EXPERIMENT, wildcards.system, name)


rule select_seed:
    input:
        checkpoints=of_all_seeds("checkpoint"),
        timings=of_all_seeds("checkpoint_timing"),
        runs=of_all_seeds("run"),
        qrels=lambda wildcards: selection.qrels(EXPERIMENT, wildcards.system),
    output:
        checkpoint=directory(result("checkpoint", seed=SELECTED_SEED)),
        timing=result("checkpoint_timing", seed=SELECTED_SEED),
        selection=result("seed_selection", seed=SELECTED_SEED),
    log:
        result("log", job="select_seed/{model}/{recipe}/{system}"),
    wildcard_constraints:
        system=one_of(selection.selections(EXPERIMENT)),
        recipe=one_of(EXPERIMENT.recipes),
    params:
        code=code("selection/select_seed.py"),
        settings=lambda wildcards: settings(**selection.selection_settings(EXPERIMENT, wildcards.system)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "select_seed {wildcards.system}"
    shell:
        "python {params.code[script]:q} --checkpoints {input.checkpoints:q} --timings {input.timings:q} --runs {input.runs:q}"
        " --qrels {input.qrels:q} --checkpoint {output.checkpoint:q} --timing {output.timing:q}"
        " --selection {output.selection:q} --settings {params.settings:q} --log {log:q}"


rule selected_seeds:
    input:
        selections=selection.records(EXPERIMENT),
    output:
        table=shown(result("selected_seeds"), "selected", "Tables", table="selected seeds"),
    log:
        result("log", job="selected_seeds"),
    params:
        code=code("selection/selected_seeds.py"),
    conda:
        "../envs/evaluation.yaml"
    message:
        "selected_seeds"
    shell:
        "python {params.code[script]:q} --selections {input.selections:q} --table {output.table:q} --log {log:q}"
