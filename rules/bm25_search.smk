"""Searches with BM25 and query likelihood: one run per task; parameters are tuned on request.

In: bm25/{dataset}/index or {system}.elasticsearch.json, data/{dataset}/queries/. Out:
bm25/{dataset}/{system}.parameters.json with {system}.grid.tsv (the values tried), {train,dev}.trec.gz (candidates for
negatives and for evaluations during training), and runs/{task}/{system}/seed-0.trec.gz with its timing; references.tsv
with Anserini's scores and the sizes of the collections.
"""

from ranktrial.experiment import job_files
from scripts.bm25 import planning as bm25

measured("tune", "search", "search_split")


use rule in_bm25 as tune with:
    input:
        index=planned(bm25.index),
        queries=result("queries", split="dev"),
        qrels=result("qrels", split="dev"),
    output:
        parameters=result("parameters"),
        grid=result("grid"),
    params:
        **job("bm25/tune.py", planned(bm25.tuning_settings)),


use rule in_bm25 as search with:
    input:
        index=planned(bm25.index_of_task),
        queries=lambda wildcards: job_files.queries(EXPERIMENT, job_files.task_in(EXPERIMENT, wildcards.task)),
        parameters=planned(bm25.tuned_parameters),
    output:
        run=result("run", seed=0),
        timing=result("run_timing", seed=0),
    wildcard_constraints:
        system=systems_of_type("bm25", "query-likelihood"),
    params:
        **job("bm25/search.py", planned(bm25.search_settings)),


use rule in_bm25 as search_split with:
    input:
        index=planned(bm25.pyserini_index),
        queries=result("queries"),
    output:
        run=result("split_run"),
        timing=result("split_run_timing"),
    wildcard_constraints:
        split="train|dev",
    params:
        **job("bm25/search.py", planned(bm25.training_search_settings)),


use rule in_bm25 as references with:
    input:
        indices=bm25.reference_indices(EXPERIMENT),
        statistics=bm25.reference_statistics(EXPERIMENT),
    output:
        references=result("references"),
    params:
        **job("bm25/references.py", planned(bm25.references_settings)),
