"""What the jobs of features are given, on a small experiment."""

from scripts.features import planning
from tests.experiment.test_config import resolved

OF = ["BM25", "first_stage_rank", {"system": "tuned"}]


def experiment(**changes):
    return resolved({"features": {"f": {"first_stage": "bm25", "of": OF, **changes}}})


def test_files_of_a_task():
    planned = experiment()
    assert planning.asked(planned) == ["results/e/features/d/f.parquet"]
    assert (planning.computed(planned), planning.given(planned)) == (["f"], [])
    assert planning.compute_inputs(planned, "f", "d") == {
        "candidates": "results/e/runs/d/bm25/seed-0.trec.gz",
        "query_terms": "results/e/bm25/d/query-terms/test.english.json",
        "qrels": "results/e/data/d/qrels/test.qrels",
        "terms": ["results/e/bm25/d/term-counts"],
        "runs": ["results/e/runs/d/tuned/seed-1.trec.gz"],
        "texts": [],
        "structures": [],
    }
    settings = planning.compute_settings(planned, "f")
    assert settings["depth"] == 100 and [one["name"] for one in settings["of"]] == [
        "BM25",
        "first_stage_rank",
        "system.tuned",
    ]


def test_a_field_of_its_own_needs_the_index_with_both_apart():
    planned = experiment(of=["BM25.title"], analyzer="standard")
    names = [f"results/e/bm25/d/term-counts-standard-{fields}" for fields in ("together", "best")]
    assert planning.term_counts(planned, "f", "d") == names


def test_a_job_depends_on_the_families_of_its_features_alone():
    assert planning.families(experiment(), "f") == [
        "ranktrial/features/families/weighting_models.py",
        "ranktrial/features/families/first_stage.py",
    ]
    assert planning.families(experiment(of=[{"system": "tuned"}]), "f") == []


def test_texts_are_read_where_a_feature_is_of_them():
    planned = experiment(of=["comparative_objects", {"system": "tuned"}])
    texts = ["results/e/data/d/queries/test.jsonl", "results/e/data/d/corpus.jsonl"]
    assert planning.compute_inputs(planned, "f", "d")["texts"] == texts
    assert planning.families(planned, "f") == ["ranktrial/features/families/comparative.py"]


def test_a_tagger_reads_the_texts_before():
    model = {"type": "token-classification", "weights": "org/t"}
    entry = {"first_stage": "bm25", "of": ["comparative_objects"], "depth": 7, "tagger": {"model": "t"}}
    planned = resolved({"features": {"f": entry}, "models/t": model})
    assert planning.tagged(planned) == ["f"] and planning.tagged(experiment()) == []
    assert planning.compute_inputs(planned, "f", "d")["structures"] == ["results/e/features/d/f.structures.jsonl"]
    tagging = planning.tagging_inputs(planned, "f", "d")
    assert tagging["checkpoint"] == "results/e/models/t/untrained/seed-0" and len(tagging["texts"]) == 2
    assert planning.tagger_files(planned, "f") == ["ranktrial/models/types/token_classification.py"]
    settings = {"type": "token-classification", "max_length": 128, "batch_size": 32, "depth": 7}
    assert planning.tagging_settings(planned, "f") == settings


def test_files_of_others_are_known_as_the_users_own():
    planned = resolved({"features": {"f": {"letor": {"d": "README.md"}}}})
    assert (planning.computed(planned), planning.given(planned)) == ([], ["f"])
    assert planning.own_files(planned) == [planning.file_of_others(planned, "f", "d")] == ["README.md"]
    assert planning.term_counts(planned, "f", "d") == []


def test_terms_are_those_of_the_documents_language_unless_an_analyser_is_named():
    german = {"datasets/d/language": "de"}
    counts = {
        analyzer: planning.term_counts(
            resolved({"features": {"f": {"first_stage": "bm25", "of": OF, **entry}}} | german),
            "f",
            "d",
        )
        for analyzer, entry in {"": {}, "english": {"analyzer": "english"}}.items()
    }
    assert counts == {"": ["results/e/bm25/d/term-counts-de-together"], "english": ["results/e/bm25/d/term-counts"]}
    planned = resolved({"features": {"f": {"first_stage": "bm25", "of": OF}}} | german)
    assert planning.compute_inputs(planned, "f", "d")["query_terms"] == "results/e/bm25/d/query-terms/test.de.json"
