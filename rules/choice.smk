"""Choice: of the recipes that an entry with `choose` became, the one with which a system is best on dev.

In: models/{model}/{recipe}/seed-{seed} of all of them, their runs on dev, qrels. Out, for a system that chooses:
models/{model}/{entry}-chosen-by-{system}/choice.json (what each scored) and seed-{seed} there (the checkpoint of the
chosen one, with its timing and training log), and of all such systems tables/chosen-recipes.tsv.
"""

from scripts.selection import planning_choice as choice


def of_all_recipes(name):
    """The files `name`, of one seed, of all recipes among which one is chosen."""
    return lambda wildcards: choice.of_members(EXPERIMENT, name, wildcards.model, wildcards.recipe, wildcards.seed)


rule choose_recipe:
    input:
        runs=lambda wildcards: choice.runs(EXPERIMENT, wildcards.recipe),
        qrels=lambda wildcards: choice.qrels(EXPERIMENT, wildcards.recipe),
    output:
        choice=result("choice"),
    log:
        result("log", job="choose_recipe/{model}/{recipe}"),
    wildcard_constraints:
        recipe=one_of(choice.choosers(EXPERIMENT)),
    params:
        code=code("selection/choose_recipe.py"),
        settings=lambda wildcards: settings(**choice.choice_settings(EXPERIMENT, wildcards.recipe)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "choose_recipe {wildcards.recipe}"
    shell:
        "python {params.code[script]:q} --runs {input.runs:q} --qrels {input.qrels:q} --choice {output.choice:q}"
        " --settings {params.settings:q} --log {log:q}"


rule chosen_checkpoint:
    input:
        choice=result("choice"),
        checkpoints=of_all_recipes("checkpoint"),
        timings=of_all_recipes("checkpoint_timing"),
        training_logs=of_all_recipes("training_log"),
    output:
        checkpoint=directory(result("checkpoint")),
        timing=result("checkpoint_timing"),
        training_log=result("training_log"),
    log:
        result("log", job="chosen_checkpoint/{model}/{recipe}/seed-{seed}"),
    wildcard_constraints:
        recipe=one_of(choice.choosers(EXPERIMENT)),
        seed="[0-9]+",
    params:
        code=code("selection/chosen_checkpoint.py"),
    conda:
        "../envs/evaluation.yaml"
    message:
        "chosen_checkpoint {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --choice {input.choice:q} --checkpoints {input.checkpoints:q} --timings {input.timings:q}"
        " --training-logs {input.training_logs:q} --checkpoint {output.checkpoint:q} --timing {output.timing:q}"
        " --training-log {output.training_log:q} --log {log:q}"


rule chosen_recipes:
    input:
        choices=choice.records(EXPERIMENT),
    output:
        table=shown(result("chosen_recipes"), "chosen", "Tables", table="chosen recipes"),
    log:
        result("log", job="chosen_recipes"),
    params:
        code=code("selection/chosen_recipes.py"),
    conda:
        "../envs/evaluation.yaml"
    message:
        "chosen_recipes"
    shell:
        "python {params.code[script]:q} --choices {input.choices:q} --table {output.table:q} --log {log:q}"
