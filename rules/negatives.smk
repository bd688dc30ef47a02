"""Training examples: negatives from BM25 or systems, and pairs for a cross-encoder or a teacher to score.

In: data/{dataset}/, bm25/{dataset}/train.trec.gz, runs/{dataset}-train/ of systems that provide negatives, the scores
of a cross-encoder (ranking.smk). Out: negatives/{dataset}/{examples}.tsv (with {examples}.mining.json, the number of
filtered candidates), negatives/{dataset}/{pairs}.trec.gz (candidates and positives), teachers/{dataset}/{pairs}.trec.gz
(examples).
"""

from ranktrial.experiment.results_paths import FIELDS
from scripts.training import planning as training

measured("negatives", "mine_negatives")


use rule in_workflow as negatives with:
    input:
        unpack(planned(training.examples_inputs)),
    output:
        negatives=result("negatives"),
    wildcard_constraints:
        examples=one_of(training.names_of_negatives(EXPERIMENT, of_systems=False)),
    params:
        **job("training/negatives.py", planned(training.examples_settings)),


use rule in_workflow as mine_negatives with:
    input:
        unpack(planned(training.examples_inputs)),
    output:
        negatives=result("negatives"),
        record=result("mining_record"),
    wildcard_constraints:
        examples=one_of(training.names_of_negatives(EXPERIMENT, of_systems=True)),
    params:
        **job("training/mine.py", planned(training.examples_settings)),


use rule in_workflow as collect_pairs with:
    input:
        unpack(planned(training.pairs_inputs)),
    output:
        pairs=result("pairs"),
    wildcard_constraints:
        scored=FIELDS["scored"],
        pairs=FIELDS["pairs"],
    params:
        **job(code(lambda wildcards: training.pairs_script(wildcards.scored)), planned(training.pairs_settings)),
