"""Learning to rank: a model trained on features of training queries orders the candidates of a first stage.

In: features/{task}/{features}.parquet of a dataset's train and dev splits and of the task,
data/{dataset}/qrels/dev.qrels, bm25/{dataset}/term-counts. Out: rankers/{source}/{system}/seed-{seed}.model with its
record (.json), the parameters tried (.grid.tsv), the training time and how much each feature matters to it
(.importance.tsv); with refit also the model that is trained again on train and dev (in refitted/);
runs/{task}/{system}/seed-{seed}.trec.gz with its timing. {source} is the training dataset.
"""

from scripts.features import planning as features
from scripts.learning_to_rank import planning as learning

learner = planned(learning.learner_files)


def terms_behind(wildcards, tasks=None):
    """The term counts from which the features of tasks were computed, by default those of the training data."""
    of = EXPERIMENT.systems[wildcards.system].settings.features
    behind = tasks or learning.folders(EXPERIMENT, wildcards.system, wildcards.source, "train")
    return [folder for task in behind for folder in features.term_counts(EXPERIMENT, of, task)]


measured("train_ranker", "refit_ranker")


use rule in_learning_to_rank as train_ranker with:
    input:
        unpack(planned(learning.training_inputs)),
        terms=terms_behind,
    output:
        model=result("ranker"),
        record=result("ranker_record"),
        grid=result("ranker_grid"),
        timing=result("ranker_timing"),
    wildcard_constraints:
        system=systems_of_type("learning-to-rank"),
        source="[^/]+",
    params:
        **job("learning_to_rank/jobs.py:train_ranker", planned(learning.training_settings), learner),


use rule train_ranker as refit_ranker with:
    input:
        unpack(planned(learning.refit_inputs)),
        terms=terms_behind,
        chosen=result("ranker_record"),
        chosen_timing=result("ranker_timing"),
    output:
        model=result("refitted_ranker"),
        record=result("refitted_ranker_record"),
        timing=result("refitted_ranker_timing"),
    params:
        **job("learning_to_rank/jobs.py:refit_ranker", planned(learning.refit_settings), learner),


use rule in_learning_to_rank as rank_by_features with:
    input:
        features=planned(learning.ranked_features),
        terms=lambda wildcards: terms_behind(wildcards, [wildcards.task]),
        model=planned(learning.ranker),
        record=lambda wildcards: learning.ranker(EXPERIMENT, **wildcards, name="ranker_record"),
    output:
        run=result("run"),
        timing=result("run_timing"),
    wildcard_constraints:
        system=systems_of_type("learning-to-rank"),
    params:
        **job("learning_to_rank/jobs.py:rank_by_features", planned(learning.ranking_settings), learner),


use rule in_learning_to_rank as importance with:
    input:
        unpack(planned(learning.dev_inputs)),
        model=result("ranker"),
        record=result("ranker_record"),
    output:
        table=result("ranker_importance"),
    wildcard_constraints:
        system=systems_of_type("learning-to-rank"),
        source="[^/]+",
    params:
        **job("learning_to_rank/jobs.py:importance", planned(learning.importance_settings), learner),
