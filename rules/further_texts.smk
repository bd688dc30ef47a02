"""Further texts of documents, such as queries that doc2query predicts, for the indices of first stages with texts: appended.

In: data/{dataset}/corpus.jsonl and the file that the dataset names under texts. Out: bm25/{dataset}/appended.jsonl.
"""


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
        settings=lambda wildcards: settings(**sha256_of(texts=bm25.further_texts(EXPERIMENT, wildcards.dataset))),
    conda:
        "../envs/datasets.yaml"
    message:
        "append_texts {wildcards.dataset}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --texts {input.texts:q} --appended {output.appended:q}"
        " --settings {params.settings:q} --log {log:q}"
