"""Training: the original weights of each model, and one fine-tuning per model, recipe and seed.

In: downloads, data/{dataset}/, negatives/{dataset}/{examples}.tsv, bm25/{dataset}/dev.trec.gz (for evaluation during
training), the scores of a teacher. Out: models/{model}/untrained/seed-0 (checked weights),
models/{model}/{recipe}/seed-{seed} with its timing and log.
"""

from ranktrial.engine.rule_helpers import one_of, settings
from ranktrial.experiment.records import UNTRAINED
from scripts.training import planning as training


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
    shell:
        "python {params.code[script]:q} --checkpoint {output.checkpoint:q} --settings {params.settings:q} --log {log:q}"


rule fine_tune:
    input:
        unpack(planned(training.dev_inputs)),
        start=planned(training.start),
        corpus=planned(training.corpus),
        queries=planned(training.queries),
        negatives=planned(training.negatives),
        scores=planned(training.teacher_scores),
    output:
        checkpoint=directory(result("checkpoint")),
        timing=result("checkpoint_timing"),
        training_log=result("training_log"),
    log:
        result("log", job="fine_tune/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="fine_tune/{model}/{recipe}/seed-{seed}")
    resources:
        gpu=planned(training.gpus),
        nodes=planned(training.nodes),
        tasks=planned(training.tasks),
    wildcard_constraints:
        recipe=one_of(training.trained_recipes(EXPERIMENT)),
        seed="[0-9]+",
    params:
        code=code_of_model("training/fine_tune.py", planned(training.code_of_evaluation)),
        settings=lambda wildcards: settings(**training.training_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/neural.yaml"
    shell:
        "python {params.code[script]:q} --start {input.start:q} --corpus {input.corpus:q} --queries {input.queries:q}"
        " --negatives {input.negatives:q} --scores {input.scores:q}"
        " --checkpoint {output.checkpoint:q} --timing {output.timing:q}"
        " --dev-run {input.dev_run:q} --dev-queries {input.dev_queries:q} --dev-qrels {input.dev_qrels:q}"
        " --training-log {output.training_log:q} --resume {output.checkpoint:q}.resume"
        " --settings {params.settings:q} --log {log:q}"
