"""Features of queries and their candidates, for learning to rank: one file per task and set of features.

In: bm25/{dataset}/term-counts{how} and query-terms/, runs/, data/{dataset}/ (qrels, and texts for text features);
models/ that tag texts; or the user's own files in LETOR's format. Out: features/{task}/{features}.parquet with its
timing, {features}.structures.jsonl if a model tags texts and, on demand, {features}.letor.txt.
"""

from scripts.features import planning as features

measured("compute_features", "tag_texts")


use rule in_workflow as compute_features with:
    input:
        unpack(planned(features.compute_inputs)),
    output:
        features=result("features"),
        timing=result("features_timing"),
    wildcard_constraints:
        features=one_of(features.computed(EXPERIMENT)),
    params:
        **job("features/jobs.py:compute_features", planned(features.compute_settings), planned(features.families)),


use rule in_neural as tag_texts with:
    input:
        unpack(planned(features.tagging_inputs)),
    output:
        structures=result("structures"),
    wildcard_constraints:
        features=one_of(features.tagged(EXPERIMENT)),
    params:
        **job("features/tag_texts.py", planned(features.tagging_settings), planned(features.tagger_files)),


use rule in_workflow as import_features with:
    input:
        source=planned(features.file_of_others),
        queries=planned(features.queries),
    output:
        features=result("features"),
    wildcard_constraints:
        features=one_of(features.given(EXPERIMENT)),
    params:
        **job("features/jobs.py:import_features"),


use rule in_workflow as export_features with:
    input:
        features=result("features"),
        terms=planned(features.term_counts),
    output:
        letor=result("letor"),
    wildcard_constraints:
        features=one_of(EXPERIMENT.features),
    params:
        **job("features/jobs.py:export_features"),
