"""Passages: the texts of a dataset cut into groups of whole sentences, for `long_documents: passages`.

In: data/{dataset}/corpus.jsonl, queries/{split}.jsonl. Out: the same in passages/{dataset}/{length}/, a line a passage.
"""


rule passages:
    input:
        **code("datasets/passages.py"),
        texts=results("data/{dataset}/{texts}.jsonl"),
    output:
        passages=results("passages/{dataset}/{length}/{texts}.jsonl"),
    log:
        results("logs/passages/{dataset}/{length}/{texts}.log"),
    benchmark:
        results("benchmarks/passages/{dataset}/{length}/{texts}.tsv")
    wildcard_constraints:
        length="[0-9]+",
        texts="corpus|queries/(?:train|dev|test)",
    params:
        settings=lambda wildcards: settings(
            length=int(wildcards.length), language=EXPERIMENT.datasets[wildcards.dataset]["language"]
        ),
    conda:
        "../envs/datasets.yaml"
    message:
        "passages {wildcards.dataset} {wildcards.texts} {wildcards.length}"
    shell:
        "python {input.script:q} --texts {input.texts:q} --passages {output.passages:q}"
        " --settings {params.settings:q} 2>&1 | tee {log:q}"
