"""Learning to rank: a model trained on features of training queries orders the candidates of a first stage.

In: features/{task}/{features}.parquet of a dataset's train and dev splits and of the task,
data/{dataset}/qrels/dev.qrels, bm25/{dataset}/term-counts. Out: rankers/{source}/{system}/seed-{seed}.model with its
record (.json), the parameters tried (.grid.tsv) and the training time; with refit also the model that is trained again
on train and dev (in refitted/); runs/{task}/{system}/seed-{seed}.trec.gz with its timing. {source} is the training
dataset.
"""

from scripts.features import planning as features
from scripts.learning_to_rank import planning as learning


def learner(wildcards):
    """The module of the system's learner."""
    return [learning.learner_file(EXPERIMENT, wildcards.system)]


def features_of(system):
    """The name of the set of features from which a system learns."""
    return EXPERIMENT.systems[system].settings.features


def features_of_split(split):
    """The feature files of one split of a ranker's training data."""
    return lambda wildcards: learning.features(EXPERIMENT, wildcards.system, wildcards.source, split)


def terms_behind(wildcards):
    """The term counts from which the feature files were computed."""
    return [
        folder
        for task in learning.folders(EXPERIMENT, wildcards.system, wildcards.source, "train")
        for folder in features.term_counts(EXPERIMENT, features_of(wildcards.system), task)
    ]


use rule in_learning_to_rank as train_ranker with:
    input:
        train=features_of_split("train"),
        dev=features_of_split("dev"),
        qrels=planned(learning.dev_judgements),
        terms=terms_behind,
    output:
        model=result("ranker"),
        record=result("ranker_record"),
        grid=result("ranker_grid"),
        timing=result("ranker_timing"),
    log:
        result("log", job="train_ranker/{source}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="train_ranker/{source}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_type("learning-to-rank"),
        source="[^/]+",
    params:
        **job(code("learning_to_rank/train.py", learner), planned(learning.training_settings)),


use rule in_learning_to_rank as refit_ranker with:
    input:
        train=features_of_split("train"),
        dev=features_of_split("dev"),
        terms=terms_behind,
        chosen=result("ranker_record"),
        chosen_timing=result("ranker_timing"),
    output:
        model=result("refitted_ranker"),
        record=result("refitted_ranker_record"),
        timing=result("refitted_ranker_timing"),
    log:
        result("log", job="refit_ranker/{source}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="refit_ranker/{source}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_type("learning-to-rank"),
        source="[^/]+",
    params:
        **job(code("learning_to_rank/refit.py", learner), planned(learning.refit_settings)),


use rule in_learning_to_rank as rank_by_features with:
    input:
        features=planned(learning.ranked_features),
        terms=lambda wildcards: features.term_counts(EXPERIMENT, features_of(wildcards.system), wildcards.task),
        model=planned(learning.ranker),
        record=lambda wildcards: learning.ranker(EXPERIMENT, **wildcards, name="ranker_record"),
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="rank_by_features/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        system=systems_of_type("learning-to-rank"),
    params:
        **job(code("learning_to_rank/rank.py", learner), planned(learning.ranking_settings)),
