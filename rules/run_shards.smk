"""Shards of runs: indices are searched part by part, and pairs scored in parts, by jobs that may run at once, and joined.

In: what retrieve, retrieve_multi_vector, retrieve_sparse, rerank (of pairs) and score_all take; quantised.smk and
approximate.smk have such shards too. Out: runs/{task}/{system}/seed-{seed}.shards/{shard}-of-{shards}.trec.gz beside the
run that they become, which is the same as that of one job.
"""


def shard_of_ranking(wildcards):
    """The settings of a job that makes a shard of a run."""
    of_shard = (wildcards.system, wildcards.seed, wildcards.shard, wildcards.shards)
    return settings(**inference.ranking_shard_settings(EXPERIMENT, *of_shard))


use rule retrieve as retrieve_shard with:
    output:
        run=result("run_shard"),
        timing=result("run_shard_timing"),
    log:
        result("log", job="retrieve_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="retrieve_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="vectors", shards=True),
    params:
        settings=shard_of_ranking,
    message:
        "retrieve_shard {wildcards.task} {wildcards.system} seed-{wildcards.seed} {wildcards.shard}-of-{wildcards.shards}"


use rule retrieve_multi_vector as retrieve_multi_vector_shard with:
    output:
        run=result("run_shard"),
        timing=result("run_shard_timing"),
    log:
        result("log", job="retrieve_multi_vector_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="retrieve_multi_vector_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="token-vectors", shards=True),
    params:
        settings=shard_of_ranking,
    message:
        "retrieve_multi_vector_shard {wildcards.task} {wildcards.system} seed-{wildcards.seed} {wildcards.shard}-of-{wildcards.shards}"


use rule retrieve_sparse as retrieve_sparse_shard with:
    output:
        run=result("run_shard"),
        timing=result("run_shard_timing"),
    log:
        result("log", job="retrieve_sparse_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="retrieve_sparse_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="terms", shards=True),
    params:
        settings=shard_of_ranking,
    message:
        "retrieve_sparse_shard {wildcards.task} {wildcards.system} seed-{wildcards.seed} {wildcards.shard}-of-{wildcards.shards}"


use rule rerank as rerank_shard with:
    output:
        run=result("run_shard"),
        timing=result("run_shard_timing"),
    log:
        result("log", job="rerank_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="rerank_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        system=systems_of_kind("rerank", shards=True),
    params:
        settings=shard_of_ranking,
    message:
        "rerank_shard {wildcards.task} {wildcards.system} seed-{wildcards.seed} {wildcards.shard}-of-{wildcards.shards}"


use rule score_all as score_all_shard with:
    output:
        run=result("run_shard"),
        timing=result("run_shard_timing"),
    log:
        result("log", job="score_all_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="score_all_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        system=systems_of_kind("score_all", shards=True),
    params:
        settings=shard_of_ranking,
    message:
        "score_all_shard {wildcards.task} {wildcards.system} seed-{wildcards.seed} {wildcards.shard}-of-{wildcards.shards}"


rule join_runs:
    input:
        shards=shards_of("run_shard"),
        timings=shards_of("run_shard_timing"),
        queries=lambda wildcards: inference.queries(EXPERIMENT, wildcards.system, wildcards.task),
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="join_runs/{task}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="join_runs/{task}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", "rerank", "score_all", shards=True),
    params:
        code=code("inference/join_runs.py"),
        settings=lambda wildcards: settings(**inference.joining_settings(EXPERIMENT, wildcards.system, wildcards.seed)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "join_runs {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --shards {input.shards:q} --timings {input.timings:q} --queries {input.queries:q}"
        " --run {output.run:q} --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"
