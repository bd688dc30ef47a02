"""Generated queries: a model writes training queries for documents of another dataset.

In: models/, data/{dataset}/corpus.jsonl of the dataset whose corpus is shared. Out: data/{dataset}/, as for a dataset
without documents of its own, with generation.json, which counts the generated queries; answers of an endpoint are kept
in data/{dataset}.resume/.
"""

from ranktrial.common.plugins import source as plugin_file
from ranktrial.experiment import job_files
from ranktrial.experiment.results_paths import SPLITS
from ranktrial.models.adapters import MODEL_TYPES
from scripts.datasets import planning as datasets


def writer(wildcards):
    """The module of the model type that the script loads."""
    model = EXPERIMENT.models[datasets.generator(EXPERIMENT, wildcards.dataset)]
    return [plugin_file(MODEL_TYPES, model.type)]


measured("generate_queries")


use rule in_neural as generate_queries with:
    input:
        checkpoint=planned(datasets.generator_checkpoint),
        corpus=planned(job_files.corpus),
    output:
        queries=expand(result("queries"), split=SPLITS, allow_missing=True),
        qrels=expand(result("qrels"), split=SPLITS, allow_missing=True),
        statistics=result("statistics"),
        generation=result("generation"),
    wildcard_constraints:
        dataset=one_of(datasets.generated(EXPERIMENT)),
    params:
        **job(code("datasets/generate.py", writer), planned(datasets.generation_settings)),
