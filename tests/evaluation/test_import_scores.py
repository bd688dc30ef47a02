"""Imported scores become a metrics file like any other."""

from ranktrial.common.tables import read_metrics
from scripts.evaluation.imports import import_scores


def test_scores_are_written_at_full_precision_under_their_measures_name(tmp_path):
    (tmp_path / "s").write_text("NA\t0.1\nb\t0.30000000000000004\n")
    import_scores([tmp_path / "s"], tmp_path / "m.tsv", "F1")
    assert read_metrics(tmp_path / "m.tsv")["F1"].to_dict() == {"NA": 0.1, "b": 0.30000000000000004}


def test_a_column_of_a_csv_becomes_the_scores_of_one_system(tmp_path):
    (tmp_path / "s.csv").write_text("query_id,bm25,dense\na,0.5,1\nb,0.25,0\n")
    import_scores([tmp_path / "s.csv"], tmp_path / "m.tsv", "F1", "dense")
    assert read_metrics(tmp_path / "m.tsv")["F1"].to_dict() == {"a": 1.0, "b": 0.0}
