"""Ranking: models search tasks, re-rank a first stage's candidates or score all pairs, and score training pairs.

In: models/, data/{dataset}/ (or passages/{dataset}/{length}/), embeddings/, runs/ of first stages,
{negatives,teachers}/{dataset}/{pairs}.trec.gz. Out, each with its timing: runs/{task}/{system}/seed-{seed}.trec.gz;
{negatives,teachers}/{dataset}/{pairs}/{system}/seed-{seed}.trec.gz, the scores with which negatives are filtered and
students are trained. With `shards`, they are joined from parts in seed-{seed}.shards/, one job each, and equal those of
a single job.
"""

from ranktrial.experiment.results_paths import FIELDS
from scripts.inference import planning as inference


def parts_of_ranking(name):
    """The files of all shards of a ranking."""
    return expand(result(name), part=inference.parts(EXPERIMENT), allow_missing=True)


measured("rank", "join_runs")


use rule in_neural as rank with:
    input:
        unpack(planned(inference.ranking_inputs)),
    output:
        run=result("ranking"),
        timing=result("ranking_timing"),
    wildcard_constraints:
        ranked=f"{inference.ranked_whole(EXPERIMENT)}|{inference.ranked_in_parts(EXPERIMENT)}",
        part=FIELDS["part"],
    params:
        **job(
            code_of_model(planned(inference.ranking_script), planned(inference.ranking_modules)),
            planned(inference.ranking_settings),
        ),
        what=planned(inference.ranking_words),
    message:
        "{params.what} {wildcards.system} seed-{wildcards.seed}{wildcards.part}"


use rule in_workflow as join_runs with:
    input:
        shards=parts_of_ranking("ranking"),
        timings=parts_of_ranking("ranking_timing"),
        queries=planned(inference.ranked_queries),
    output:
        run=result("ranking", part=""),
        timing=result("ranking_timing", part=""),
    wildcard_constraints:
        ranked=inference.joined(EXPERIMENT),
    params:
        **job("inference/join_runs.py", planned(inference.joining_settings)),
