"""Training: a model's own weights, negatives, and one fine-tuning per model, recipe and seed.

In: downloads, data/{dataset}/, bm25/{dataset}/train.trec.gz. Out: models/{model}/untrained/seed-0 (checked weights),
negatives/{dataset}/{examples}.tsv, models/{model}/{recipe}/seed-{seed} with its timing and training log.
"""

from scripts.training import planning as training


rule weights:
    input:
        **code("training/weights.py"),
        source=lambda wildcards: source_files(*training.weights_source(EXPERIMENT, wildcards.model)),
    output:
        checkpoint=directory(result("checkpoint", recipe=UNTRAINED, seed=0)),
    log:
        result("log", job="weights/{model}"),
    params:
        settings=lambda wildcards: settings(
            **training.weights_settings(EXPERIMENT, wildcards.model),
            **source_settings(*training.weights_source(EXPERIMENT, wildcards.model)),
        ),
    conda:
        "../envs/neural.yaml"
    message:
        "weights {wildcards.model}"
    shell:
        "python {input.script:q} --checkpoint {output.checkpoint:q} --settings {params.settings:q} --log {log:q}"


rule negatives:
    input:
        **code("training/negatives.py"),
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
    params:
        settings=lambda wildcards: settings(**training.examples_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "negatives {wildcards.dataset} {wildcards.examples}"
    shell:
        "python {input.script:q} --corpus {input.corpus:q} --queries {input.queries:q} --qrels {input.qrels:q}"
        " --evaluation-qrels {input.evaluation_qrels:q} --first-stage {input.first_stage:q}"
        " --negatives {output.negatives:q} --settings {params.settings:q} --log {log:q}"


rule fine_tune:
    input:
        unpack(code_of_model("training/fine_tune.py")),
        start=lambda wildcards: training.start(EXPERIMENT, **wildcards),
        corpus=lambda wildcards: training.corpus(EXPERIMENT, wildcards.recipe),
        queries=lambda wildcards: training.queries(EXPERIMENT, wildcards.recipe),
        negatives=lambda wildcards: training.negatives(EXPERIMENT, wildcards.recipe, wildcards.seed),
    output:
        checkpoint=directory(result("checkpoint")),
        timing=result("checkpoint_timing"),
        training_log=result("training_log"),
    log:
        result("log", job="fine_tune/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="fine_tune/{model}/{recipe}/seed-{seed}")
    wildcard_constraints:
        recipe=one_of(EXPERIMENT.recipes),
        seed="[0-9]+",
    params:
        settings=lambda wildcards: settings(**training.training_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/neural.yaml"
    message:
        "fine_tune {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --start {input.start:q} --corpus {input.corpus:q} --queries {input.queries:q}"
        " --negatives {input.negatives:q} --checkpoint {output.checkpoint:q} --timing {output.timing:q}"
        " --training-log {output.training_log:q} --resume {output.checkpoint:q}.resume"
        " --settings {params.settings:q} --log {log:q}"
