"""Feature files that are none, damaged or hold what is no number."""

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.feature_file import KEY, Features, check_index, read_about, read_features, writing
from tests.support.one_line import one_line, refused


def one_row(values):
    return Features(["q"], ["d"], [1], np.array([values]))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_neither_written_nor_read(tmp_path, number):
    with pytest.raises(UserError) as error, writing(tmp_path / "f.parquet", ["a", "b"]) as writer:
        writer.add(one_row([1.0, number]))
    one_line(error, "feature b of query q and document d is", "not a finite number")
    assert list(tmp_path.iterdir()) == []
    columns = {"query": ["q"], "document": ["d"], "grade": arrow.array([1], arrow.int32()), "b": [number]}
    table = arrow.table(columns)
    with parquet.ParquetWriter(tmp_path / "f.parquet", table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: b'{"features": [{"name": "b"}]}'})
    with refused("contains a feature that is not a finite number"):
        list(read_features(tmp_path / "f.parquet"))


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("query document\n")
    parquet.write_table(arrow.table({"query": ["q"]}), tmp_path / "other.parquet")
    for name in ("text", "other.parquet"):
        with refused(f"{name}: is not a feature file, or is damaged"):
            read_about(tmp_path / name)


def test_a_file_that_lost_its_end_is_refused(tmp_path):
    with writing(tmp_path / "f.parquet", ["a"]) as writer:
        writer.add(one_row([1.0]))
        writer.close({"features": [{"name": "a"}], "indices": {}})
    whole = (tmp_path / "f.parquet").read_bytes()
    (tmp_path / "f.parquet").write_bytes(whole[: len(whole) // 2])
    with refused("f.parquet: is not a feature file, or is damaged"):
        list(read_features(tmp_path / "f.parquet"))


def test_features_of_others_are_of_no_index(tmp_path):
    with writing(tmp_path / "f.parquet", ["a"]) as writer:
        writer.close({"features": [{"name": "a"}], "indices": {}})
    check_index(tmp_path / "f.parquet", {})
    with refused("its features were computed from no index with the fields together"):
        check_index(tmp_path / "f.parquet", {"together": "0" * 64})
