"""Shards of scores: the candidates of mining and the examples of a teacher are scored in parts, by jobs that may run at once.

In: what score_candidates (training.smk) and score_examples (distillation.smk) take. Out: {system}.shards/
{shard}-of-{shards}.trec.gz beside the scores that they become, which are the same as those of one job.
"""


def shard_of_scoring(wildcards):
    """The settings of a job that scores a shard."""
    seed = mining.scorer_seed(EXPERIMENT, wildcards.dataset, wildcards.system)
    of_shard = (wildcards.system, seed, wildcards.shard, wildcards.shards)
    return settings(**inference.ranking_shard_settings(EXPERIMENT, *of_shard, depth=mining.EVERY))


def joining_of_scores(wildcards):
    """The settings of a job that joins the shards of scores."""
    seed = mining.scorer_seed(EXPERIMENT, wildcards.dataset, wildcards.system)
    return settings(**inference.joining_settings(EXPERIMENT, wildcards.system, seed, depth=mining.EVERY))


use rule score_candidates as score_candidates_shard with:
    output:
        scores=result("mining_scores_shard"),
        timing=result("mining_scores_shard_timing"),
    log:
        result("log", job="score_candidates_shard/{dataset}/{pool}/{system}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="score_candidates_shard/{dataset}/{pool}/{system}/{shard}-of-{shards}")
    wildcard_constraints:
        pool="[^/]+",
        system=scorers(shards=True),
    params:
        settings=shard_of_scoring,
    message:
        "score_candidates_shard {wildcards.dataset} {wildcards.pool} {wildcards.system} {wildcards.shard}-of-{wildcards.shards}"


use rule score_examples as score_examples_shard with:
    output:
        scores=result("teacher_scores_shard"),
        timing=result("teacher_scores_shard_timing"),
    log:
        result("log", job="score_examples_shard/{dataset}/{examples}/{system}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="score_examples_shard/{dataset}/{examples}/{system}/{shard}-of-{shards}")
    wildcard_constraints:
        examples="[^/]+",
        system=scorers(shards=True),
    params:
        settings=shard_of_scoring,
    message:
        "score_examples_shard {wildcards.dataset} {wildcards.examples} {wildcards.system} {wildcards.shard}-of-{wildcards.shards}"


use rule join_runs as join_candidates with:
    input:
        shards=shards_of("mining_scores_shard"),
        timings=shards_of("mining_scores_shard_timing"),
        queries=lambda wildcards: mining.scored_queries(EXPERIMENT, wildcards.dataset, wildcards.system),
    output:
        run=result("mining_scores"),
        timing=result("mining_scores_timing"),
    log:
        result("log", job="join_candidates/{dataset}/{pool}/{system}"),
    benchmark:
        result("benchmark", job="join_candidates/{dataset}/{pool}/{system}")
    wildcard_constraints:
        pool="[^/]+",
        system=scorers(shards=True),
    params:
        settings=joining_of_scores,
    message:
        "join_candidates {wildcards.dataset} {wildcards.pool} {wildcards.system}"


use rule join_runs as join_examples with:
    input:
        shards=shards_of("teacher_scores_shard"),
        timings=shards_of("teacher_scores_shard_timing"),
        queries=lambda wildcards: mining.scored_queries(EXPERIMENT, wildcards.dataset, wildcards.system),
    output:
        run=result("teacher_scores"),
        timing=result("teacher_scores_timing"),
    log:
        result("log", job="join_examples/{dataset}/{examples}/{system}"),
    benchmark:
        result("benchmark", job="join_examples/{dataset}/{examples}/{system}")
    wildcard_constraints:
        examples="[^/]+",
        system=scorers(shards=True),
    params:
        settings=joining_of_scores,
    message:
        "join_examples {wildcards.dataset} {wildcards.examples} {wildcards.system}"
