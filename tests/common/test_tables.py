"""Tables of results: what stands in a column of names is a name, whatever it looks like; numbers are exact."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.tables import MEANS, read_metrics, read_table, read_texts
from tests.support.sources import our_sources

REPOSITORY = Path(__file__).parents[2]
NAMES = ["01", "1", "1e3", "1000", "2019", "NA", "N/A", "null", "nan", "NaN", "None", "inf", "-0", "True", "1.0", "0x1",
         "#N/A", "2020-01-01", 'quo"te', " x"]  # fmt: skip


def test_names_come_back_as_they_were_written(tmp_path):
    written = pd.DataFrame({"task": NAMES, "system": NAMES[::-1], "RR@10": 0.1, "queries": 7})
    written.to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    table = read_table(tmp_path / "t.tsv", *MEANS)
    assert table["task"].tolist() == NAMES and table["system"].tolist() == NAMES[::-1]
    assert table["queries"].tolist() == [7] * len(NAMES) and table["queries"].dtype == "int64"
    assert not table.set_index(["task", "system"]).index.has_duplicates


def test_numbers_come_back_to_the_last_bit_and_empty_cells_stay_empty(tmp_path):
    values = np.random.default_rng(1).normal(size=200) * 10.0 ** np.random.default_rng(2).integers(-300, 300, 200)
    written = pd.DataFrame(
        {"task": "a", "effect": values, "n": [None, *range(199)], "undefined": [None, *["why"] * 199]}
    )
    written.to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    table = read_table(tmp_path / "t.tsv", "task", "undefined")
    assert table["effect"].tolist() == values.tolist()
    assert np.isnan(table["n"][0]) and table["n"].tolist()[1:] == list(range(199))
    assert table["undefined"].isna().tolist() == [True, *[False] * 199]


def test_what_is_no_number_is_reported_with_its_column(tmp_path):
    (tmp_path / "t.tsv").write_text("task\tmean\na\t0.5\nb\thigh\n")
    with pytest.raises(UserError, match=r"t\.tsv: column mean: .*'high'"):
        read_table(tmp_path / "t.tsv", "task")


def test_metrics_have_a_value_for_each_query(tmp_path):
    (tmp_path / "m.tsv").write_text("query_id\tRR@10\nNA\t0.5\n01\t1\n")
    assert read_metrics(tmp_path / "m.tsv")["RR@10"].to_dict() == {"NA": 0.5, "01": 1.0}
    (tmp_path / "m.tsv").write_text("query_id\tRR@10\nNA\t0.5\n01\t\n")
    with pytest.raises(UserError, match=r"m\.tsv: was changed or damaged: a query lacks a value"):
        read_metrics(tmp_path / "m.tsv")


def test_texts_stay_as_printed_and_a_file_without_a_heading_has_no_columns(tmp_path):
    (tmp_path / "p.tsv").write_text("row\tprinted\nNA\t.50\n\t1e-3\n")
    assert read_texts(tmp_path / "p.tsv").to_dict("list") == {"row": ["NA", ""], "printed": [".50", "1e-3"]}
    (tmp_path / "e.tsv").write_text("\n")
    assert read_texts(tmp_path / "e.tsv").empty and read_table(tmp_path / "e.tsv", "task").empty


def test_no_other_module_has_pandas_read_a_table():
    reading = [path for path in our_sources() if re.search(r"\bpd\.read_", path.read_text())]
    assert [path.relative_to(REPOSITORY).as_posix() for path in reading] == ["ranktrial/common/tables.py"]
