"""Synthesis: effects per task and their meta-analysis, or a multiple comparison, from per-query metrics.

In: metrics/{task}/{system}/seed-{seed}.tsv, and runs, in which unjudged documents are counted. Out:
effects/{comparison}.tsv, meta/{comparison}.json; multiple-comparisons/{family}.json with
tables/multiple-comparisons/{family}.tsv.
"""

from scripts.synthesis import planning as synthesis


use rule in_workflow as compare with:
    input:
        planned(synthesis.cluster_files),
        unpack(planned(synthesis.comparison_inputs)),
    output:
        effects=result("effects"),
        meta=result("meta"),
    params:
        **job(code("synthesis/compare.py", planned(synthesis.modules)), planned(synthesis.comparison_settings)),


use rule in_workflow as compare_many with:
    input:
        metrics=planned(synthesis.family_metrics),
    output:
        table=shown(
            result("family_table", table_format="tsv"),
            "family_table",
            "Tables",
            table="multiple comparison",
            comparison="{family}",
        ),
        record=result("family"),
    params:
        **job("synthesis/compare_many.py", planned(synthesis.family_settings)),
