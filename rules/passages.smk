"""Passages: the texts of a dataset cut into groups of whole sentences, for systems and recipes that split long documents.

In: data/{dataset}/corpus.jsonl, queries/{split}.jsonl. Out: the same in passages/{dataset}/{length}/, one line per passage.
"""


rule split:
    input:
        texts=result("texts"),
    output:
        passages=result("passages"),
    log:
        result("log", job="split/{dataset}/{length}/{texts}"),
    benchmark:
        result("benchmark", job="split/{dataset}/{length}/{texts}")
    wildcard_constraints:
        length="[0-9]+",
        texts="corpus|queries/(?:train|dev|test)",
    params:
        code=code("datasets/passages.py"),
        settings=lambda wildcards: settings(**datasets.split_settings(EXPERIMENT, wildcards.dataset, wildcards.length)),
    conda:
        "../envs/datasets.yaml"
    message:
        "split {wildcards.dataset} {wildcards.texts} {wildcards.length}"
    shell:
        "python {params.code[script]:q} --texts {input.texts:q} --passages {output.passages:q}"
        " --settings {params.settings:q} --log {log:q}"
