"""Indices for BM25 and query likelihood: in Lucene, one per dataset and text analysis, or on a server.

In: data/{dataset}/, and the file of further texts that a dataset names, such as queries predicted by doc2query. Out,
below bm25/{dataset}/: index (index-{analyzer}-{fields} if these are not Pyserini's; the name ends in -vectors if
feedback needs the terms of documents, and in -appended if documents have further texts, from appended.jsonl),
{system}.elasticsearch.json (which index on which server) and, for features, term-counts of an index and query-terms/.
"""

from scripts.bm25 import planning as bm25
from ranktrial.engine.job_settings import settings
from ranktrial.engine.rule_helpers import one_of
from ranktrial.experiment.results_paths import FIELDS


rule append_texts:
    input:
        corpus=result("corpus"),
        texts=lambda wildcards: bm25.further_texts(EXPERIMENT, wildcards.dataset),
    output:
        appended=result("appended"),
    log:
        result("log", job="append_texts/{dataset}"),
    wildcard_constraints:
        dataset=one_of(bm25.with_further_texts(EXPERIMENT)),
    params:
        code=code("bm25/append_texts.py"),
        settings=settings(),
    conda:
        "../envs/datasets.yaml"
    message:
        "append_texts {wildcards.dataset}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --texts {input.texts:q} --appended {output.appended:q}"
        " --settings {params.settings:q} --log {log:q}"


rule index:
    input:
        corpus=lambda wildcards: bm25.indexed(EXPERIMENT, wildcards.dataset, wildcards.how),
    output:
        index=directory(result("index")),
    log:
        result("log", job="index/{dataset}{how}"),
    benchmark:
        result("benchmark", job="index/{dataset}{how}")
    wildcard_constraints:
        how=FIELDS["how"],
    params:
        code=code("bm25/index.py"),
        settings=lambda wildcards: settings(**bm25.index_settings(wildcards.how)),
    conda:
        "../envs/bm25.yaml"
    message:
        "index {wildcards.dataset}{wildcards.how}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --index {output.index:q}"
        " --settings {params.settings:q} --log {log:q}"


rule index_elasticsearch:
    input:
        corpus=result("corpus"),
    output:
        record=result("elasticsearch_index"),
    log:
        result("log", job="index_elasticsearch/{dataset}/{system}"),
    params:
        code=code("bm25/index_elasticsearch.py"),
        settings=lambda wildcards: settings(**bm25.index_elasticsearch_settings(EXPERIMENT, wildcards.system)),
    conda:
        "../envs/bm25.yaml"
    message:
        "index_elasticsearch {wildcards.dataset} {wildcards.system}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --record {output.record:q}"
        " --settings {params.settings:q} --log {log:q}"


rule count_terms:
    input:
        index=result("index"),
    output:
        terms=directory(result("term_counts")),
    log:
        result("log", job="count_terms/{dataset}{how}"),
    benchmark:
        result("benchmark", job="count_terms/{dataset}{how}")
    wildcard_constraints:
        how=FIELDS["how"],
    params:
        code=code("bm25/count_terms.py"),
        settings=lambda wildcards: settings(**bm25.index_settings(wildcards.how)),
    conda:
        "../envs/bm25.yaml"
    message:
        "count_terms {wildcards.dataset}{wildcards.how}"
    shell:
        "python {params.code[script]:q} --index {input.index:q} --terms {output.terms:q}"
        " --settings {params.settings:q} --log {log:q}"


rule analyse_queries:
    input:
        queries=result("queries"),
    output:
        terms=result("query_terms"),
    log:
        result("log", job="analyse_queries/{dataset}/{split}.{analyzer}"),
    wildcard_constraints:
        analyzer=FIELDS["analyzer"],
    params:
        code=code("bm25/analyse_queries.py"),
        settings=lambda wildcards: settings(analyzer=wildcards.analyzer),
    conda:
        "../envs/bm25.yaml"
    message:
        "analyse_queries {wildcards.dataset} {wildcards.split} {wildcards.analyzer}"
    shell:
        "python {params.code[script]:q} --queries {input.queries:q} --terms {output.terms:q}"
        " --settings {params.settings:q} --log {log:q}"
