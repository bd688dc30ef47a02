"""Selection on dev: keep one of a system's seeds for other datasets, and one of an entry's recipes with `choose`.

In: models/{model}/{recipe}/seed-{seed} with timings and logs, runs/{task}/{system}/seed-{seed}.trec.gz, qrels. Out, for
seeds: models/{model}/{recipe}/seed-selected-{system} with the seed's timing and the scores of all seeds (json); for
recipes: models/{model}/{entry}-chosen-by-{system}/choice.json and seed-{seed} in the same folder.
"""

from scripts.selection import planning as selection

SELECTED_SEED = "selected-{system}"  # takes the place of a seed: the selected checkpoint


localrules:
    select_seed,
    choose_recipe,
    chosen_checkpoint,


def of_recipes(name):
    """The files `name` of one seed, for all recipes from which one is selected."""
    return lambda wildcards: selection.of_recipes(EXPERIMENT, name, wildcards.model, wildcards.recipe, wildcards.seed)


use rule in_workflow as select_seed with:
    input:
        unpack(planned(selection.seed_inputs)),
    output:
        checkpoint=directory(result("checkpoint", seed=SELECTED_SEED)),
        timing=result("checkpoint_timing", seed=SELECTED_SEED),
        selection=result("seed_selection", seed=SELECTED_SEED),
    wildcard_constraints:
        system=one_of(selection.selections(EXPERIMENT)),
        recipe=one_of(EXPERIMENT.recipes),
    params:
        **job("selection/jobs.py:select_seed", planned(selection.seed_settings)),
    message:
        "select_seed {wildcards.system}"


use rule in_workflow as choose_recipe with:
    input:
        unpack(planned(selection.recipe_inputs)),
    output:
        choice=result("choice"),
    wildcard_constraints:
        recipe=one_of(selection.choosers(EXPERIMENT)),
    params:
        **job("selection/jobs.py:choose_recipe", planned(selection.recipe_settings)),
    message:
        "choose_recipe {wildcards.recipe}"


use rule in_workflow as chosen_checkpoint with:
    input:
        choice=result("choice"),
        checkpoints=of_recipes("checkpoint"),
        timings=of_recipes("checkpoint_timing"),
        training_logs=of_recipes("training_log"),
    output:
        checkpoint=directory(result("checkpoint")),
        timing=result("checkpoint_timing"),
        training_log=result("training_log"),
    wildcard_constraints:
        recipe=one_of(selection.choosers(EXPERIMENT)),
        seed="[0-9]+",
    params:
        **job("selection/jobs.py:chosen_checkpoint"),
    message:
        "chosen_checkpoint {wildcards.recipe} seed-{wildcards.seed}"
