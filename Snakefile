"""ranktrial: from raw test collections to forest plots. See README.md; `make run` runs config/config.yaml."""

from snakemake.utils import min_version

min_version("9.27")

if not workflow.configfiles:  # given files replace the example; --replace-workflow-config is not passed to remote jobs

    configfile: "config/config.yaml"


include: "rules/start.smk"
include: "rules/common.smk"


from scripts.explorer import planning as explorer
from scripts.features import planning as features
from scripts.learning_to_rank import planning as learning
from scripts.reports import planning as pages
from scripts.study_design import planning as study

STAGES = (
    *("jobs", "downloads", "datasets", "generated_queries", "bm25_index", "bm25_search"),
    *("negatives", "training", "features", "encoding", "ranking", "selection"),
    *sorted(f"systems/{path.stem}" for path in REPOSITORY.glob("rules/systems/*.smk")),
    *("evaluation", "judge", "synthesis", "details", "transfer", "study_design", "tables", "figures"),
    *("report", "explorer", "archive"),
)

for stage in STAGES:

    include: f"rules/{stage}.smk"


include: "rules/course.smk"


rule all:
    default_target: True
    input:
        shown=[result("summary"), result("report"), *pages.named_in_summary(EXPERIMENT), *study.asked(EXPERIMENT)],
        explorer=explorer.asked(EXPERIMENT),
        features=features.asked(EXPERIMENT),
        importance=learning.all_tables(EXPERIMENT),
        deleted=deleted,
