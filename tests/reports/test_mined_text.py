"""What the summary says of mined negatives."""

import json

from ranktrial.reports.contents.training import mined
from ranktrial.reports.writing.content import plain

RECORD = {"from": ["bm25", "z"], "cross_encoder": None, "rules": {}, "queries": 1200, "queries_not_found": 0, "queries_without_negatives": 0,
          "queries_with_fewer_negatives": 0, "queries_without_positive_score": 0, "equal_texts": 0,
          "candidates": 60000, "filtered": {}, "negatives": {"bm25": 2000, "z": 1600}}  # fmt: skip


def test_each_set_of_negatives_has_a_line(tmp_path):
    filtered = {"cross_encoder": "ce", "rules": {"relative_margin": 0.05, "max_score": 3},
                "filtered": {"relative_margin": 1500, "max_score": 0}, "queries_without_negatives": 1,
                "queries_with_fewer_negatives": 31, "equal_texts": 12, "queries_not_found": 7}  # fmt: skip
    folder = tmp_path / "scifact"
    folder.mkdir()
    files = [folder / "plain.mining.json", folder / "filtered.mining.json"]
    for file, record in zip(files, (RECORD, RECORD | filtered), strict=True):
        file.write_text(json.dumps(record))
    assert list(map(plain, mined(files))) == [
        "scifact, plain: 2,000 from bm25, 1,600 from z, of 60,000 candidates of 1,200 queries.",
        "scifact, filtered: 2,000 from bm25, 1,600 from z, of 60,000 candidates of 1,200 queries; "
        "1,500 filtered by relative_margin 0.05 (scores of ce); 0 filtered by max_score 3 (scores of ce); "
        "12 left out because their text equals that of the query or of a relevant document; "
        "not used for training: 7 queries whose relevant document is not found; "
        "not used for training: 1 query without a negative left; 31 queries with fewer negatives than asked for.",
    ]
    assert mined([]) == []
