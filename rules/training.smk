"""Training: a model's own weights, negatives, and one fine-tuning per model, recipe and seed.

In: downloads, data/{dataset}/, bm25/{dataset}/train.trec.gz (and dev.trec.gz, to evaluate on the way), and runs/{dataset}-train/ of systems that negatives are from.
Out: models/{model}/untrained/seed-0 (checked weights), negatives/{dataset}/{examples}.tsv (with {examples}.mining.json, how
many candidates were filtered, and {pool}/{system}.trec.gz, by a cross-encoder), models/{model}/{recipe}/seed-{seed} with
its timing and training log.
"""

from scripts.training import planning as training
from scripts.training import planning_evaluation as evaluating
from scripts.training import planning_mining as mining
from scripts.training import planning_teaching as teaching


rule weights:
    input:
        source=lambda wildcards: source_files(*training.weights_source(EXPERIMENT, wildcards.model)),
    output:
        checkpoint=directory(result("checkpoint", recipe=UNTRAINED, seed=0)),
    log:
        result("log", job="weights/{model}"),
    params:
        code=code("training/weights.py"),
        settings=lambda wildcards: settings(
            **training.weights_settings(EXPERIMENT, wildcards.model),
            **source_settings(*training.weights_source(EXPERIMENT, wildcards.model)),
        ),
    conda:
        "../envs/neural.yaml"
    message:
        "weights {wildcards.model}"
    shell:
        "python {params.code[script]:q} --checkpoint {output.checkpoint:q} --settings {params.settings:q} --log {log:q}"


rule negatives:
    input:
        corpus=lambda wildcards: job_files.corpus(EXPERIMENT, wildcards.dataset),
        queries=result("queries", split="train"),
        qrels=result("qrels", split="train"),
        evaluation_qrels=lambda wildcards: training.examples_evaluation_qrels(EXPERIMENT, **wildcards),
        first_stage=lambda wildcards: training.examples_first_stage(EXPERIMENT, **wildcards),
    output:
        negatives=result("negatives"),
    log:
        result("log", job="negatives/{dataset}/{examples}"),
    benchmark:
        result("benchmark", job="negatives/{dataset}/{examples}")
    wildcard_constraints:
        examples=one_of(mining.names(EXPERIMENT, of_systems=False)),
    params:
        code=code("training/negatives.py"),
        settings=lambda wildcards: settings(**training.examples_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "negatives {wildcards.dataset} {wildcards.examples}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --queries {input.queries:q} --qrels {input.qrels:q}"
        " --evaluation-qrels {input.evaluation_qrels:q} --first-stage {input.first_stage:q}"
        " --negatives {output.negatives:q} --settings {params.settings:q} --log {log:q}"


rule mine_negatives:
    input:
        corpus=lambda wildcards: job_files.corpus(EXPERIMENT, wildcards.dataset),
        queries=result("queries", split="train"),
        qrels=result("qrels", split="train"),
        evaluation_qrels=lambda wildcards: training.examples_evaluation_qrels(EXPERIMENT, **wildcards),
        first_stage=lambda wildcards: training.examples_first_stage(EXPERIMENT, **wildcards),
        runs=lambda wildcards: training.examples_runs(EXPERIMENT, **wildcards),
        scores=lambda wildcards: mining.scores(EXPERIMENT, **wildcards),
    output:
        negatives=result("negatives"),
        record=result("mining_record"),
    log:
        result("log", job="mine_negatives/{dataset}/{examples}"),
    benchmark:
        result("benchmark", job="mine_negatives/{dataset}/{examples}")
    wildcard_constraints:
        examples=one_of(mining.names(EXPERIMENT, of_systems=True)),
    params:
        code=code("training/mine.py"),
        settings=lambda wildcards: settings(**training.examples_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "mine_negatives {wildcards.dataset} {wildcards.examples}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --queries {input.queries:q} --qrels {input.qrels:q}"
        " --evaluation-qrels {input.evaluation_qrels:q} --first-stage {input.first_stage:q} --runs {input.runs:q}"
        " --scores {input.scores:q} --negatives {output.negatives:q} --record {output.record:q}"
        " --settings {params.settings:q} --log {log:q}"


rule collect_candidates:  # for a cross-encoder to score, with the positives
    input:
        unpack(lambda wildcards: training.pool_inputs(EXPERIMENT, **wildcards)),
        corpus=lambda wildcards: job_files.corpus(EXPERIMENT, wildcards.dataset),
        queries=result("queries", split="train"),
        qrels=result("qrels", split="train"),
    output:
        pool=result("mining_pool"),
    log:
        result("log", job="collect_candidates/{dataset}/{pool}"),
    wildcard_constraints:
        pool="[^/]+",
    params:
        code=code("training/pool.py"),
        settings=lambda wildcards: settings(**mining.pool_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "collect_candidates {wildcards.dataset} {wildcards.pool}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --queries {input.queries:q} --qrels {input.qrels:q}"
        " --evaluation-qrels {input.evaluation_qrels:q} --first-stage {input.first_stage:q} --runs {input.runs:q}"
        " --pool {output.pool:q} --settings {params.settings:q} --log {log:q}"


rule score_candidates:
    input:
        checkpoint=lambda wildcards: mining.scorer(EXPERIMENT, wildcards.dataset, wildcards.system),
        corpus=lambda wildcards: mining.scored_corpus(EXPERIMENT, wildcards.dataset, wildcards.system),
        queries=lambda wildcards: mining.scored_queries(EXPERIMENT, wildcards.dataset, wildcards.system),
        pool=result("mining_pool"),
    output:
        scores=result("mining_scores"),
        timing=result("mining_scores_timing"),
    log:
        result("log", job="score_candidates/{dataset}/{pool}/{system}"),
    benchmark:
        result("benchmark", job="score_candidates/{dataset}/{pool}/{system}")
    wildcard_constraints:
        pool="[^/]+",
        system=scorers(shards=False),
    params:
        code=code_of_model("inference/rerank.py"),
        settings=lambda wildcards: settings(
            **inference.ranking_settings(
                EXPERIMENT,
                wildcards.system,
                mining.scorer_seed(EXPERIMENT, wildcards.dataset, wildcards.system),
                depth=mining.EVERY,
            )
        ),
    conda:
        "../envs/neural.yaml"
    message:
        "score_candidates {wildcards.dataset} {wildcards.pool} {wildcards.system}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --queries {input.queries:q} --first-stage {input.pool:q} --run {output.scores:q} --timing {output.timing:q}"
        " --settings {params.settings:q} --log {log:q}"


rule fine_tune:
    input:
        unpack(lambda wildcards: evaluating.dev_inputs(EXPERIMENT, wildcards.recipe)),
        start=lambda wildcards: training.start(EXPERIMENT, **wildcards),
        corpus=lambda wildcards: training.corpus(EXPERIMENT, wildcards.recipe),
        queries=lambda wildcards: training.queries(EXPERIMENT, wildcards.recipe),
        negatives=lambda wildcards: training.negatives(EXPERIMENT, wildcards.recipe, wildcards.seed),
        scores=lambda wildcards: teaching.scores(EXPERIMENT, wildcards.recipe, wildcards.seed),
    output:
        checkpoint=directory(result("checkpoint")),
        timing=result("checkpoint_timing"),
        training_log=result("training_log"),
    log:
        result("log", job="fine_tune/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="fine_tune/{model}/{recipe}/seed-{seed}")
    resources:
        gpu=lambda wildcards: training.gpus(EXPERIMENT, wildcards.recipe),
        nodes=lambda wildcards: training.nodes(EXPERIMENT, wildcards.recipe),
        tasks=lambda wildcards: training.tasks(EXPERIMENT, wildcards.recipe),
    wildcard_constraints:
        recipe=one_of(training.trained_recipes(EXPERIMENT)),
        seed="[0-9]+",
    params:
        code=code_of_model("training/fine_tune.py", lambda wildcards: evaluating.code(EXPERIMENT, wildcards.recipe)),
        settings=lambda wildcards: settings(**training.training_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/neural.yaml"
    message:
        "fine_tune {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --start {input.start:q} --corpus {input.corpus:q} --queries {input.queries:q}"
        " --negatives {input.negatives:q} --scores {input.scores:q}"
        " --checkpoint {output.checkpoint:q} --timing {output.timing:q}"
        " --dev-run {input.dev_run:q} --dev-queries {input.dev_queries:q} --dev-qrels {input.dev_qrels:q}"
        " --training-log {output.training_log:q} --resume {output.checkpoint:q}.resume"
        " --settings {params.settings:q} --log {log:q}"
