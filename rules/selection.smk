"""Selection on dev: keep one of a system's seeds for other datasets, and one of an entry's recipes with `choose`.

In: models/{model}/{recipe}/seed-{seed} with timings and logs, runs/{task}/{system}/seed-{seed}.trec.gz, qrels. Out, for
seeds: models/{model}/{recipe}/seed-selected-{system} with the seed's timing and the scores of all seeds (json); for
recipes: models/{model}/{entry}-chosen-by-{system}/choice.json and seed-{seed} in the same folder.
"""

from ranktrial.engine.job_settings import settings
from ranktrial.engine.rule_helpers import one_of
from scripts.selection import planning as selection
from scripts.selection import planning_choice as choice

SELECTED_SEED = "selected-{system}"  # takes the place of a seed: the selected checkpoint


localrules:
    select_seed,
    choose_recipe,
    chosen_checkpoint,


def of_all_seeds(name):
    """The files `name` of all seeds from which one is selected."""
    return lambda wildcards: selection.candidates(EXPERIMENT, wildcards.system, name)


def of_all_recipes(name):
    """The files `name` of one seed, for all recipes from which one is selected."""
    return lambda wildcards: choice.of_members(EXPERIMENT, name, wildcards.model, wildcards.recipe, wildcards.seed)


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
