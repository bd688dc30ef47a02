"""Training: a model's own weights, negatives, and one fine-tuning a model, recipe and seed.

In: downloads, data/{dataset}/, bm25/{dataset}/train.trec.gz. Out: models/{model}/untrained/seed-0 (checked weights),
negatives/{dataset}/{examples}.tsv, models/{model}/{recipe}/seed-{seed} with its timing and training log.
"""


def examples(recipe):
    """The readable name of a recipe's training examples, shared by all recipes that learn from the same ones."""
    negatives = recipe["negatives"]
    words = f"{recipe['labels']}-labels_{negatives['per_query']}-{negatives['from']}-negatives_{recipe['queries']}-queries"
    return words if negatives["exclude_evaluation"] else f"{words}_with-evaluation-gold"


EXAMPLES = {(recipe["train_on"], examples(recipe)): recipe for recipe in EXPERIMENT.recipes.values()}
SCHEDULE = ["loss", "epochs", "batch_size", "micro_batch", "learning_rate", "warmup", "schedule", "weight_decay"]
SCHEDULE += ["checkpoint_steps"]


def examples_settings(wildcards):
    recipe = EXAMPLES[wildcards.dataset, wildcards.examples]
    return settings(**recipe["negatives"], labels=recipe["labels"], queries=recipe["queries"], seed=EXPERIMENT.seed)


def examples_first_stage(wildcards):
    recipe = EXAMPLES[wildcards.dataset, wildcards.examples]
    needed = "bm25" in (recipe["labels"], recipe["negatives"]["from"])
    return results(f"bm25/{wildcards.dataset}/train.trec.gz") if needed else []


def examples_evaluation_qrels(wildcards):
    excluded = EXAMPLES[wildcards.dataset, wildcards.examples]["negatives"]["exclude_evaluation"]
    return expand(results(f"data/{wildcards.dataset}/qrels/{{split}}.qrels"), split=["dev", "test"] if excluded else [])


def start(wildcards):
    before = EXPERIMENT.recipes[wildcards.recipe]["start_from"] or UNTRAINED
    seed = EXPERIMENT.starting_seed(wildcards.recipe, wildcards.seed)
    return results(f"models/{wildcards.model}/{before}/seed-{seed}")


def training_data(path):
    """The texts that a recipe learns from, or the passages of them."""

    def texts(wildcards):
        recipe = EXPERIMENT.recipes[wildcards.recipe]
        length = recipe["passage_length"] if recipe["long_documents"] == "passages" else None
        return texts_of(recipe["train_on"], path, length)

    return texts


def negatives(wildcards):
    recipe = EXPERIMENT.recipes[wildcards.recipe]
    return results(f"negatives/{recipe['train_on']}/{examples(recipe)}.tsv")


def training_settings(wildcards):
    recipe, model = EXPERIMENT.recipes[wildcards.recipe], EXPERIMENT.models[wildcards.model]
    schedule = {key: recipe[key] for key in SCHEDULE}
    split = {"long_documents": "passages"} if recipe["long_documents"] == "passages" else {}
    return settings(**schedule, **split, type=model["type"], max_length=model["max_length"], seed=int(wildcards.seed))


def weights_settings(wildcards):
    model = EXPERIMENT.models[wildcards.model]
    kept = {key: model[key] for key in ("type", "backend", "file", "sha256") if key in model}
    return settings(**kept, **source_settings(model["weights"], model["revision"]))


rule weights:
    input:
        **code("training/weights.py"),
        source=lambda wildcards: source_files(*[EXPERIMENT.models[wildcards.model][k] for k in ("weights", "revision")]),
    output:
        checkpoint=directory(results(f"models/{{model}}/{UNTRAINED}/seed-0")),
    log:
        results("logs/weights/{model}.log"),
    params:
        settings=weights_settings,
    conda:
        "../envs/neural.yaml"
    message:
        "weights {wildcards.model}"
    shell:
        "python {input.script:q} --checkpoint {output.checkpoint:q} --settings {params.settings:q} 2>&1 | tee {log:q}"


rule negatives:
    input:
        **code("training/negatives.py"),
        corpus=lambda wildcards: corpus_of(wildcards.dataset),
        queries=results("data/{dataset}/queries/train.jsonl"),
        qrels=results("data/{dataset}/qrels/train.qrels"),
        evaluation_qrels=examples_evaluation_qrels,
        first_stage=examples_first_stage,
    output:
        negatives=results("negatives/{dataset}/{examples}.tsv"),
    log:
        results("logs/negatives/{dataset}/{examples}.log"),
    benchmark:
        results("benchmarks/negatives/{dataset}/{examples}.tsv")
    params:
        settings=examples_settings,
    conda:
        "../envs/evaluation.yaml"
    message:
        "negatives {wildcards.dataset} {wildcards.examples}"
    shell:
        "python {input.script:q} --corpus {input.corpus:q} --queries {input.queries:q} --qrels {input.qrels:q}"
        " --evaluation-qrels {input.evaluation_qrels:q} --first-stage {input.first_stage:q}"
        " --negatives {output.negatives:q} --settings {params.settings:q} 2>&1 | tee {log:q}"


rule fine_tune:
    input:
        **code("training/fine_tune.py"),
        start=start,
        corpus=training_data("corpus"),
        queries=training_data("queries/train"),
        negatives=negatives,
    output:
        checkpoint=directory(results("models/{model}/{recipe}/seed-{seed}")),
        timing=results("models/{model}/{recipe}/seed-{seed}.timing.json"),
        training_log=results("models/{model}/{recipe}/seed-{seed}.log.tsv"),
    log:
        results("logs/fine_tune/{model}/{recipe}/seed-{seed}.log"),
    benchmark:
        results("benchmarks/fine_tune/{model}/{recipe}/seed-{seed}.tsv")
    wildcard_constraints:
        recipe=one_of(EXPERIMENT.recipes),
        seed="[0-9]+",
    params:
        settings=training_settings,
    conda:
        "../envs/neural.yaml"
    message:
        "fine_tune {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --start {input.start:q} --corpus {input.corpus:q} --queries {input.queries:q}"
        " --negatives {input.negatives:q} --checkpoint {output.checkpoint:q} --timing {output.timing:q}"
        " --training-log {output.training_log:q} --resume {output.checkpoint:q}.resume"
        " --settings {params.settings:q} 2>&1 | tee {log:q}"
