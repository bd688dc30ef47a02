"""Study design: the effect that a further study could detect, from the variances of comparisons or assumed ones.

In: effects/, meta/, metrics/ of both systems, tables/costs.tsv. Out: tables/study-designs/{plan}.json,
tables/study-design.{tsv,md,tex}. `snakemake plan_study` makes them all, with the figures; if the configuration has
`plan_study`, they are made with the other results.
"""

from ranktrial.experiment.labels import system_labels
from scripts.study_design import planning as study


localrules:
    study_design,
    plan_study,


use rule in_workflow as study_design with:
    input:
        unpack(planned(study.plan_inputs)),
    output:
        plan=result("study_design"),
    wildcard_constraints:
        plan=one_of(EXPERIMENT.study.plans),
    params:
        **job(code("study_design/plan_designs.py", planned(study.modules)), planned(study.plan_settings)),


use rule in_workflow as plan_study with:
    input:
        plans=study.plan_files(EXPERIMENT),
        figures=study.figure_files(EXPERIMENT),
    output:
        table=shown(result("study_designs", table_format="tsv"), "study_designs", "Tables", table="study designs"),
        page=result("study_designs", table_format="md"),
        tex=result("study_designs", table_format="tex"),
    params:
        **job("reports/study_designs.py", lambda wildcards: dict(labels=system_labels(EXPERIMENT))),
