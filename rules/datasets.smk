"""Datasets: read each source and write the common layout that later stages read, whole or cut into passages.

In: folders, archives, downloads. Out, per dataset: data/{dataset}/corpus.jsonl, queries/{split}.jsonl,
qrels/{split}.qrels, statistics.json; for datasets with judgements only, just the last two; no corpus if a dataset
shares another's. Passages are groups of whole sentences: passages/{dataset}/{length}/ with the same texts, one line per
passage. Counts of word pieces by a model's tokenizer: data/{dataset}/word-pieces.json.
"""

from ranktrial.common.plugins import source as plugin_file
from ranktrial.experiment import job_files
from ranktrial.configuration.dataset_keys import FORMATS
from ranktrial.experiment.results_paths import FIELDS, SPLITS
from scripts.datasets import planning as datasets


def reader(wildcards):
    """The reader that prepare loads for the dataset's format."""
    return [plugin_file(FORMATS, EXPERIMENT.datasets[wildcards.dataset].format)]


measured("prepare_dataset", "prepare_queries", "prepare_judgements", "split")


use rule in_workflow as prepare_dataset with:
    input:
        source_files(planned(datasets.place)),
        shared=planned(datasets.shared_corpus),
        ranked_queries=planned(datasets.ranked_queries),
        excluded=planned(datasets.excluded),
    output:
        corpus=result("corpus"),
        queries=expand(result("queries"), split=SPLITS, allow_missing=True),
        qrels=expand(result("qrels"), split=SPLITS, allow_missing=True),
        statistics=result("statistics"),
    wildcard_constraints:
        dataset=one_of(datasets.whole(EXPERIMENT)),
    params:
        **job(
            code("datasets/prepare.py", reader),
            with_source(planned(datasets.dataset_settings), planned(datasets.place)),
        ),


use rule prepare_dataset as prepare_queries with:
    output:
        queries=expand(result("queries"), split=SPLITS, allow_missing=True),
        qrels=expand(result("qrels"), split=SPLITS, allow_missing=True),
        statistics=result("statistics"),
    wildcard_constraints:
        dataset=one_of(datasets.without_corpus(EXPERIMENT)),


use rule prepare_dataset as prepare_judgements with:
    output:
        qrels=expand(result("qrels"), split=SPLITS, allow_missing=True),
        statistics=result("statistics"),
    wildcard_constraints:
        dataset=one_of(datasets.judgements_only(EXPERIMENT)),


use rule in_neural as word_pieces with:
    input:
        corpus=planned(job_files.corpus),
        queries=planned(job_files.all_queries),
        model=datasets.tokenizer(EXPERIMENT),
    output:
        pieces=result("word_pieces"),
    params:
        **job("datasets/word_pieces.py", lambda wildcards: dict(tokenizer=EXPERIMENT.word_pieces, seed=EXPERIMENT.seed)),


use rule in_workflow as split with:
    input:
        texts=result("texts"),
    output:
        passages=result("passages"),
    wildcard_constraints:
        length=FIELDS["length"],
        texts=FIELDS["texts"],
    params:
        **job("datasets/passages.py", planned(datasets.split_settings)),
