"""Indices for BM25 and query likelihood: in Lucene, one per dataset and text analysis, or on a server.

In: data/{dataset}/, and the file of further texts that a dataset names, such as queries predicted by doc2query. Out,
below bm25/{dataset}/: index (index-{analyzer}-{fields} if these are not Pyserini's; the name ends in -vectors if
feedback needs the terms of documents, and in -appended if documents have further texts, from appended.jsonl),
{system}.elasticsearch.json (which index on which server) and, for features, term-counts of an index and query-terms/.
"""

from ranktrial.experiment.results_paths import FIELDS
from scripts.bm25 import planning as bm25

measured("index", "count_terms")


use rule in_bm25 as append_texts with:
    input:
        corpus=result("corpus"),
        texts=planned(bm25.further_texts),
    output:
        appended=result("appended"),
    wildcard_constraints:
        dataset=one_of(bm25.with_further_texts(EXPERIMENT)),
    params:
        **job("bm25/index.py:append_texts"),


use rule in_bm25 as index with:
    input:
        corpus=planned(bm25.indexed),
    output:
        index=directory(result("index")),
    log:
        result("log", job="index/{dataset}{how}"),
    wildcard_constraints:
        how=FIELDS["how"],
    params:
        **job(
            "bm25/index.py:index",
            lambda wildcards: (made := bm25.index_settings(wildcards.how)) | bm25.analysis_settings(made["analyzer"]),
        ),


use rule in_bm25 as index_elasticsearch with:
    input:
        corpus=result("corpus"),
    output:
        record=result("elasticsearch_index"),
    params:
        **job("bm25/index.py:index_elasticsearch", planned(bm25.index_elasticsearch_settings)),


use rule in_bm25 as count_terms with:
    input:
        index=result("index"),
    output:
        terms=directory(result("term_counts")),
    log:
        result("log", job="count_terms/{dataset}{how}"),
    wildcard_constraints:
        how=FIELDS["how"],
    params:
        **job("bm25/terms.py:count_terms", lambda wildcards: bm25.index_settings(wildcards.how)),


use rule in_bm25 as analyse_queries with:
    input:
        queries=result("queries"),
    output:
        terms=result("query_terms"),
    wildcard_constraints:
        analyzer=FIELDS["analyzer"],
    params:
        **job("bm25/terms.py:analyse_queries", lambda wildcards: bm25.analysis_settings(wildcards.analyzer)),
