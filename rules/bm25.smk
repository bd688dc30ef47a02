"""BM25 and query likelihood with Lucene, BM25 on a server: one index per dataset, one run per task; tuned on request.

In: data/{dataset}/. Out: bm25/{dataset}/index (index-{analyzer}-{fields} where they are not Pyserini's, ending in -vectors
where feedback takes the terms of documents, in -appended where documents have further texts: of appended.jsonl) or
{system}.elasticsearch.json (which index on which server), {system}.parameters.json with {system}.grid.tsv (the values tried), train.trec.gz (the ranking from which negatives come) and dev.trec.gz (candidates by which trainings are evaluated), and
runs/{task}/{system}/seed-0.trec.gz with its timing. For features: term-counts (of an index) and query-terms/.
"""

from scripts.bm25 import planning as bm25


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
        how=results_paths.FIELDS["how"],
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
        how=results_paths.FIELDS["how"],
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
        analyzer=results_paths.FIELDS["analyzer"],
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


rule tune:
    input:
        index=lambda wildcards: bm25.index(EXPERIMENT, wildcards.system, wildcards.dataset),
        queries=result("queries", split="dev"),
        qrels=result("qrels", split="dev"),
    output:
        parameters=result("parameters"),
        grid=result("grid"),
    log:
        result("log", job="tune/{dataset}/{system}"),
    benchmark:
        result("benchmark", job="tune/{dataset}/{system}")
    params:
        code=code("bm25/tune.py"),
        settings=lambda wildcards: settings(**bm25.tuning_settings(EXPERIMENT, wildcards.system, wildcards.dataset)),
    conda:
        "../envs/bm25.yaml"
    message:
        "tune {wildcards.dataset} {wildcards.system}"
    shell:
        "python {params.code[script]:q} --index {input.index:q} --queries {input.queries:q} --qrels {input.qrels:q}"
        " --parameters {output.parameters:q} --table {output.grid:q} --settings {params.settings:q} --log {log:q}"


rule search:
    input:
        index=lambda wildcards: bm25.index_of_task(EXPERIMENT, wildcards.system, wildcards.task),
        queries=lambda wildcards: job_files.queries(EXPERIMENT, job_files.task_in(EXPERIMENT, wildcards.task)),
        parameters=lambda wildcards: bm25.tuned_parameters(EXPERIMENT, wildcards.system, wildcards.task),
    output:
        run=result("run", seed=0),
        timing=result("run_timing", seed=0),
    log:
        result("log", job="search/{task}/{system}"),
    benchmark:
        result("benchmark", job="search/{task}/{system}")
    wildcard_constraints:
        system=systems_of_kind("bm25", "query-likelihood"),
    params:
        code=code("bm25/search.py"),
        settings=lambda wildcards: settings(**bm25.search_settings(EXPERIMENT, wildcards.system, wildcards.task)),
    conda:
        "../envs/bm25.yaml"
    message:
        "search {wildcards.task} {wildcards.system}"
    shell:
        "python {params.code[script]:q} --index {input.index:q} --queries {input.queries:q} --run {output.run:q}"
        " --timing {output.timing:q} --parameters {input.parameters:q} --settings {params.settings:q} --log {log:q}"


rule search_training_queries:
    input:
        index=lambda wildcards: bm25.pyserini_index(EXPERIMENT, wildcards.dataset),
        queries=result("queries", split="train"),
    output:
        run=result("training_run"),
        timing=result("training_run_timing"),
    log:
        result("log", job="search_training_queries/{dataset}"),
    benchmark:
        result("benchmark", job="search_training_queries/{dataset}")
    params:
        code=code("bm25/search.py"),
        settings=lambda wildcards: settings(**bm25.training_search_settings(EXPERIMENT, wildcards.dataset)),
    conda:
        "../envs/bm25.yaml"
    message:
        "search_training_queries {wildcards.dataset}"
    shell:
        "python {params.code[script]:q} --index {input.index:q} --queries {input.queries:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"


use rule search_training_queries as search_dev_queries with:
    input:
        index=lambda wildcards: bm25.pyserini_index(EXPERIMENT, wildcards.dataset),
        queries=result("queries", split="dev"),
    output:
        run=result("dev_run"),
        timing=result("dev_run_timing"),
    log:
        result("log", job="search_dev_queries/{dataset}"),
    benchmark:
        result("benchmark", job="search_dev_queries/{dataset}")
    message:
        "search_dev_queries {wildcards.dataset}"
