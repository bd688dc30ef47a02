"""Details of a comparison, on request: moderators of the effect, and wins and losses by query.

In: effects/, meta/, metrics/, qrels; for moderators also data/*/statistics.json. Out: moderators/{comparison}.json,
tables/queries/ and tables/query-differences/{comparison}.tsv.
"""

from ranktrial.experiment import job_files
from scripts.reports import planning as pages
from scripts.synthesis import planning as synthesis


localrules:
    moderate,
    queries,


use rule in_workflow as moderate with:
    input:
        unpack(planned(synthesis.moderation_inputs)),
    output:
        moderators=result("moderators"),
    wildcard_constraints:
        comparison=one_of(pages.moderated(EXPERIMENT)),
    params:
        **job(
            code("synthesis/moderate.py", planned(synthesis.modules)),
            planned(synthesis.moderation_settings),
        ),


use rule in_workflow as queries with:
    input:
        planned(synthesis.cluster_files),
        unpack(planned(job_files.compared_metrics)),
    output:
        table=shown(result("queries_table"), "queries", "Tables", table="queries", comparison="{comparison}"),
        differences=result("query_differences"),
    params:
        **job("synthesis/tables.py:queries", planned(synthesis.query_settings)),
