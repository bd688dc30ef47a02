"""Feature importance: how much each feature matters to a ranker that was trained on features.

In: rankers/{source}/{system}/seed-{seed}.model with its record (.json), the features and judgements of dev. Out:
rankers/{source}/{system}/seed-{seed}.importance.tsv. {source} is the dataset on which the ranker was trained.
"""

from scripts.learning_to_rank import planning as learning


use rule in_learning_to_rank as importance with:
    input:
        dev=lambda wildcards: learning.features(EXPERIMENT, wildcards.system, wildcards.source, "dev"),
        qrels=planned(learning.dev_judgements),
        model=result("ranker"),
        record=result("ranker_record"),
    output:
        table=result("ranker_importance"),
    log:
        result("log", job="importance/{source}/{system}/seed-{seed}"),
    wildcard_constraints:
        system=systems_of_type("learning-to-rank"),
        source="[^/]+",
    params:
        **job(
            code(
                "learning_to_rank/importance.py",
                lambda wildcards: [learning.learner_file(EXPERIMENT, wildcards.system)],
            ),
            planned(learning.importance_settings),
        ),
