"""One table in the forms in which tools write it: each gives the same values, pairs by the same ids, and leaves out rows of
means."""

import itertools
import json

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.outside_table import Wanted
from ranktrial.ir.scores import check_column, named_in, read_scores, read_values
from tests.support.one_line import refused

IDS = ["q1", "q2", "q3"]
VALUES = {"bm25": [0.5, 0.25, 1.0], "e5": [0.75, 0.5, 0.0]}
ROWS = list(zip(IDS, *VALUES.values(), strict=True))
RIGHT = {name: dict(zip(IDS, values, strict=True)) for name, values in VALUES.items()}


def joined(rows, separator, quoted=False, comma=False):
    def cell(value):
        if isinstance(value, float):
            return str(value).replace(".", ",") if comma else str(value)
        return f'"{value}"' if quoted else value

    return "".join(separator.join(map(cell, row)) + "\n" for row in rows)


WIDE = [("query_id", *VALUES), *ROWS]
INDEXED = [("", "query_id", *VALUES), *(("7", *row) for row in ROWS)]
FORMS = {
    "CSV": joined(WIDE, ","),
    "CSV with spaces": joined(WIDE, ", "),
    "TSV": joined(WIDE, "\t"),
    "semicolons": joined(WIDE, ";"),
    "Excel's empty columns and rows": "".join(f"{line},,\n" for line in [*joined(WIDE, ",").split(), ",,", ",,"]),
    "its empty columns between semicolons": "".join(f"{line};\n" for line in [*joined(WIDE, ";").split(), ";;"]),
    "its empty columns between tabs": "".join(f"{line}\t\t\n" for line in joined(WIDE, "\t").splitlines()),
    "its line about the separator": "sep=;\r\n" + joined(WIDE, ";", comma=True),
    "a semicolon in a name": joined([(*WIDE[0], "x (v2; tuned)"), *((*row, 0.1) for row in ROWS)], ","),
    "a comma in a name": joined([(*WIDE[0], "x (v2, tuned)"), *((*row, 0.1) for row in ROWS)], ";"),
    "a semicolon in a name beside R's row names": joined(
        [(*INDEXED[0], "x; y"), *((*row, 0.1) for row in INDEXED[1:])], ",", quoted=True
    ),
    "Excel in Europe": "\ufeff" + joined(WIDE, ";", comma=True).replace("\n", "\r\n"),
    "R's write.csv2": joined(INDEXED, ";", quoted=True, comma=True),
    "R's quotes in TSV": joined(WIDE, "\t", quoted=True),
    "R's row names without a heading": joined([tuple(VALUES), *ROWS], "\t", quoted=True),
    "R's row names beside ids": joined([WIDE[0], *(("7", *row) for row in ROWS)], "\t", quoted=True),
    "pandas' index": joined(INDEXED, ","),
    "an index with a name": joined([("index", "query_id", *VALUES), *(("7", *row) for row in ROWS)], ","),
    "Unnamed: 0": joined([("Unnamed: 0", "query_id", *VALUES), *(("7", *row) for row in ROWS)], "\t"),
    "comments": "# scores of 2024\n#\n" + joined(WIDE, ",") + "# end\n",
    "a mean": joined([*WIDE, ("all", 0.58, 0.42)], "\t"),
    "means first": joined([WIDE[0], ("Average", 0.58, 0.42), *ROWS], ","),
    "two means": joined([*WIDE, ("Mean (Task)", 0.58, 0.42), ("macro average", 0.5, 0.4)], ","),
    "ids last": joined([(*VALUES, "query_id"), *((*row[1:], row[0]) for row in ROWS)], ","),
    "text between": joined([("query_id", "prompt", *VALUES), *((row[0], "a b", *row[1:]) for row in ROWS)], "\t"),
    "JSON lines": "".join(json.dumps(dict(zip(WIDE[0], row, strict=True))) + "\n" for row in ROWS),
    "long": joined([("qid", "system", "value"), *((i, s, RIGHT[s][i]) for s, i in itertools.product(RIGHT, IDS))], ","),
    "PyTerrier per query": joined(
        [
            ("name", "qid", "measure", "value"),
            *((s, i, m, RIGHT[s][i] if m == "nDCG@10" else 0.1) for s in RIGHT for i in IDS for m in ("AP", "nDCG@10")),
        ],
        ",",
    ),
    "long with tasks": joined(
        [
            ("task", "sample", "model", "score"),
            *((t, i, s, RIGHT[s][i] if t == "T 1" else 0.1) for t in ("T 1", "t2") for s in RIGHT for i in IDS),
        ],
        ";",
        comma=True,
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("system", RIGHT)
def test_every_form_of_a_table_gives_the_same_values(tmp_path, form, system):
    (tmp_path / "s").write_text(FORMS[form])
    found = read_values(tmp_path / "s", Wanted(system, "t-1", "nDCG@10"))
    assert found.scores == RIGHT[system]
    check_column(tmp_path / "s", system)
    means = 2 if "two means" in form else 1 if "mean" in form else 0
    assert len(found.remarks) == means, "rows of means are said"


@pytest.mark.parametrize("index", [False, True])
def test_parquet_of_pandas_is_a_table(tmp_path, index):
    import pandas as pd

    table = pd.DataFrame(ROWS, columns=list(WIDE[0]))
    if index:
        table = table.set_index("query_id")
    table.to_parquet(tmp_path / "s.parquet")
    assert read_scores(tmp_path / "s.parquet", "e5") == RIGHT["e5"]
    with pytest.raises(UserError, match=r"s\.parquet: row 0: no column 'x'"):
        read_scores(tmp_path / "s.parquet", "x")


OF_ONE = {
    "trec_eval -q": "".join(
        f"{m:22}\t{i}\t{v if m == 'ndcg_cut_10' else 0.1:.4f}\n"
        for i, v in [*RIGHT["bm25"].items(), ("all", 0.58)]
        for m in ("map", "P_10", "ndcg_cut_10")
    )
    + "runid                 \tall\tbm25\n",
    "ir_measures -q": "".join(
        f"{i}\t{m}\t{v if m == 'nDCG@10' else 0.1:.4f}\n"
        for i, v in [*RIGHT["bm25"].items(), ("all", 0.58)]
        for m in ("AP", "nDCG@10")
    ),
    "ids and values": joined([(i, v) for i, v in RIGHT["bm25"].items()], "\t"),
    "ids, values and a mean": joined([*RIGHT["bm25"].items(), ("all", 0.58)], "\t"),
    "a heading of the measure": joined(
        [("query", "AP", "nDCG@10"), *((i, 0.1, v) for i, v in RIGHT["bm25"].items())], ","
    ),
    "lm-evaluation-harness": "".join(
        json.dumps({"doc_id": i, "doc": {"a": 1}, "target": "4", "metrics": ["ndcg_cut_10"], "ndcg_cut_10": v}) + "\n"
        for i, v in RIGHT["bm25"].items()
    ),
    "a value that is true or false": "".join(
        json.dumps({"id": i, "nDCG@10": v}) + "\n" for i, v in {"q1": 0.5, "q2": 0.25, "q3": True}.items()
    ),
}


@pytest.mark.parametrize("form", OF_ONE)
def test_tables_of_one_system(tmp_path, form):
    (tmp_path / "s").write_text(OF_ONE[form])
    assert read_values(tmp_path / "s", Wanted(measure="nDCG@10")).scores == RIGHT["bm25"]


@pytest.mark.parametrize(
    ("content", "wanted", "said"),
    [
        (FORMS["long"], Wanted("bm"), "s: no row of the system 'bm'; there are bm25, e5"),
        (FORMS["long"], Wanted(), "s: has rows of several systems, bm25, e5; name one by the key `column` of the system"),
        (FORMS["long with tasks"], Wanted("e5"), "s: has rows of several tasks, T 1, t2; name one"),
        (FORMS["long with tasks"], Wanted("e5", "t3"), "s: no row of the task 't3'; there are T 1, t2"),
        (OF_ONE["ir_measures -q"], Wanted(measure="P@5"), "s: no row of the measure 'P@5'; there are AP, nDCG@10"),
        ("query,measure,value\nq1,AP,0.5\n", Wanted(measure="nDCG@10"), "no row of the measure 'nDCG@10'; there are AP"),
        ("id,seed,score\na,1,0.5\na,2,0.5\n", Wanted(), "s: has rows of several seeds, 1, 2"),
        ("id;a\nx;0,5\ny;1.000\n", Wanted("a"), ":2: a decimal comma, and other values have a decimal point"),
        ("id,a,b\nx,0,5,1,5\n", Wanted("a"), ":2: 5 columns; expected 3, as the heading has; decimal commas need"),
        ("id,a,\nx,1,2\n", Wanted("a"), ":2: 3 columns; expected 2, as the heading has"),
        ("id,e5\u200b,b\nx,1,1\n", Wanted("e5"), "no column 'e5'; the columns of values are e5"),
        ("q1;0,5\n", Wanted(), ":1: value 'q1;0,5' is not a number; expected decimal digits with a point, such as 0.25 (col"),
        ("id\ta\tb\nx\t1\t\n", Wanted("b"), ":2: value '' is not a number"),
        ("a\tb\tc\nd\te\tf\n", Wanted(), ":1: 3 columns; expected one value per line"),
        ("map\tall\t0.5\n", Wanted(measure="AP"), ": has means alone (all); expected one value per query, as"),
    ],
)  # fmt: skip
def test_what_is_in_doubt_is_refused_with_what_there_is(tmp_path, content, wanted, said):
    (tmp_path / "s").write_text(content)
    with refused(said):
        read_values(tmp_path / "s", wanted)


def test_a_mean_alone_is_no_value_of_a_query_and_one_in_the_middle_is_an_id(tmp_path):
    (tmp_path / "s").write_text("q1\t1\nall\t0.5\nq2\t0\n")
    assert read_scores(tmp_path / "s") == {"q1": 1.0, "all": 0.5, "q2": 0.0}


def test_seeds_of_a_long_table(tmp_path):
    rows = [("seed", "query_id", "value"), *((str(seed), i, seed / 4) for seed in (1, 2) for i in IDS)]
    (tmp_path / "s").write_text(joined(rows, ","))
    assert named_in(tmp_path / "s").seeds == ["1", "2"]
    assert read_values(tmp_path / "s", Wanted(seed="2")).scores == dict.fromkeys(IDS, 0.5)
    (tmp_path / "t").write_text(FORMS["CSV"])
    assert named_in(tmp_path / "t") == ([], [], [], [])
