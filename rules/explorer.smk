"""The explorer: a folder with a local page that shows single queries and their rankings.

In: metrics/ and runs/ of all compared tasks, data/{dataset}/qrels/. Out: explorer/. Queries and corpora are read but
are not inputs: if they were deleted to save space, the job reports this in one line, and no long jobs are planned
again. The statistics of datasets (statistics.json) are inputs, since they have the SHA-256 of the texts.
"""

from scripts.explorer import planning as explorer


use rule in_workflow as explorer with:
    input:
        [*explorer.qrels(EXPERIMENT), *explorer.statistics(EXPERIMENT)],
        metrics=explorer.metrics(EXPERIMENT),
        runs=explorer.runs(EXPERIMENT),
    output:
        folder=directory(result("explorer")),
    params:
        **job("explorer/jobs.py:explorer", planned(explorer.explorer_settings), explorer.page_files()),
