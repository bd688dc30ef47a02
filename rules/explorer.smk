"""The explorer: a folder with a local page that shows single queries and their rankings.

In: metrics/ and runs/ of all compared tasks, data/{dataset}/qrels/. Out: explorer/. Queries and corpora are read but
are not inputs: if they were deleted to save space, the job reports this in one line, and no long jobs are planned
again. The statistics of datasets (statistics.json) are inputs, since they have the SHA-256 of the texts.
"""

from pathlib import Path

from ranktrial.engine.rule_helpers import settings
from scripts.explorer import planning as explorer

PAGE = sorted(str(file) for file in Path(repository("scripts/explorer/page")).rglob("*") if file.is_file())
EXPLORED = settings(**explorer.explorer_settings(EXPERIMENT))


rule explorer:
    input:
        metrics=explorer.metrics(EXPERIMENT),
        runs=explorer.runs(EXPERIMENT),
        qrels=explorer.qrels(EXPERIMENT),
        statistics=explorer.statistics(EXPERIMENT),
        page=PAGE,
        style=repository("ranktrial/reports/writing/page.css"),
    output:
        folder=directory(result("explorer")),
    log:
        result("log", job="explorer"),
    params:
        code=code("explorer/write.py"),
        settings=EXPLORED,
    conda:
        "../envs/evaluation.yaml"
    shell:
        "python {params.code[script]:q} --metrics {input.metrics:q} --runs {input.runs:q} --qrels {input.qrels:q}"
        " --style {input.style:q} --folder {output.folder:q} --settings {params.settings:q} --log {log:q}"
