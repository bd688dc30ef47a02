"""Training: the original weights of each model, and one fine-tuning per model, recipe and seed.

In: downloads, data/{dataset}/, negatives/{dataset}/{examples}.tsv, bm25/{dataset}/dev.trec.gz (for evaluation during
training), the scores of a teacher. Out: models/{model}/untrained/seed-0 (checked weights),
models/{model}/{recipe}/seed-{seed} with its timing and log.
"""

from ranktrial.experiment.records import UNTRAINED
from scripts.training import planning as training

measured("fine_tune")


use rule in_neural as weights with:
    input:
        source_files(planned(training.weights_source)),
    output:
        checkpoint=directory(result("checkpoint", recipe=UNTRAINED, seed=0)),
    params:
        **job("training/weights.py", with_source(planned(training.weights_settings), planned(training.weights_source))),


use rule in_neural as fine_tune with:
    input:
        unpack(planned(training.training_inputs)),
    output:
        checkpoint=directory(result("checkpoint")),
        timing=result("checkpoint_timing"),
        training_log=result("training_log"),
    resources:
        gpu=planned(training.gpus),
        nodes=planned(training.nodes),
        tasks=planned(training.tasks),
    wildcard_constraints:
        recipe=one_of(training.trained_recipes(EXPERIMENT)),
        seed="[0-9]+",
    params:
        **job(
            code_of_model("training/fine_tune.py", planned(training.code_of_evaluation)),
            planned(training.training_settings),
        ),
