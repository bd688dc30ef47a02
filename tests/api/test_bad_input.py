"""Each mistake of a caller is one line; what other libraries hand over is understood."""

import types

import numpy as np
import pandas as pd
import pytest

import ranktrial as rt
from tests.api.test_compare import FAST, frame, same
from tests.support.one_line import refused

QRELS, RUN = {"q1": {"d1": 1}, "q2": {"d1": 1, "d4": 2}}, {"q1": {"d1": 2.0}, "q2": {"d3": 3.0}}
EFFECTS = pd.DataFrame({"task": list("abc"), "yi": [0.1, 0.2, 0.3], "vi": [0.01, 0.02, 0.03]})
SCORES = pd.DataFrame(
    {"task": list("abcdef"), "m1": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "m2": [0.2, 0.1, 0.35, 0.5, 0.6, 0.7]}
)
BAD = {
    "lists": (lambda: rt.compare(frame().to_dict("list")), "for a table give pd.DataFrame(data)"),
    "no data": (lambda: rt.compare(runs={"a": RUN}, qrels=QRELS), "no data; expected as the first argument a DataFrame"),
    "width": (lambda: rt.compare(frame(), **FAST).forest_plot(width="wide"), "width: expected 'single column' or 'double column' | float, not 'wide'"),
    "look": (lambda: rt.compare(frame(), **FAST).forest_plot(widht=3), "unknown key 'widht' (did you mean 'width'?)"),
    "records": (lambda: rt.compare(frame().to_dict("records")), "expected a DataFrame"),
    "other names": (lambda: rt.compare(frame().rename(columns={"value": "val", "system": "sys"})), "no column of systems among task, query, sys, val"),
    "integers as names": (lambda: rt.compare(frame().set_axis(range(4), axis=1)), "the columns are 0, 1, 2, 3"),
    "overflow": (lambda: rt.compare({"a": ([1e300, 2, 3], [1, 2, 3])}), "task a, control: the value of query 1"),
    "missing seed": (lambda: rt.compare(frame().assign(seed=[1.0, np.nan] * 24)), "row 1: no seed"),
    "measure": (lambda: rt.compare(frame(), measure=5), "measure: expected a name, not 5"),
    "seed": (lambda: rt.compare(frame(), seed=-1), "a whole number from 0"),
    "direction": (lambda: rt.compare(frame(), lower_is_better="yes"), "True or False"),
    "effects as a list": (lambda: rt.compare(frame(), effect=["MD"]), "effect: unknown"),
    "clusters of no task": (lambda: rt.compare(frame(), clusters={"t3": {"q": "c"}}), "clusters: no task 't3'"),
    "clusters as a list": (lambda: rt.compare(frame(), clusters=["a"]), "clusters: expected auto"),
    "no variance": (lambda: rt.compare(EFFECTS.assign(vi=[1, -1, 1])), "row 1 (task b): yi 0.2 and vi -1; expected a variance above 0"),
    "tiny variance": (lambda: rt.compare(EFFECTS.assign(vi=1e-320)), "row 0 (task a)"),
    "n": (lambda: rt.compare(EFFECTS.assign(n=["x", 1, 2])), "row 0: 'x' queries; expected a whole number"),
    "nameless task": (lambda: rt.compare(EFFECTS.assign(task=["a", None, "c"])), "row 1: no task"),
    "correlation": (lambda: rt.compare(EFFECTS.assign(yi=[1.0, 0, 0]), effect="CORR"), "yi 1; expected a correlation between -1 and 1"),
    "no measure": (lambda: rt.evaluate(QRELS, {"a": RUN}, []), "no measure; expected names"),
    "grade": (lambda: rt.evaluate({"q1": {"d1": 1.5}}, {"a": RUN}), "qrels: query q1, document d1: 1.5; expected a whole number"),
    "score": (lambda: rt.evaluate(QRELS, {"a": pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": ["x"]})}), "row 0: 'x'; expected a number"),
    "runs as a list": (lambda: rt.evaluate(QRELS, [RUN]), "runs: expected {system: run}"),
    "no findings": (lambda: rt.power(frame()), "power: expected findings of compare"),
    "no queries": (lambda: rt.power(rt.compare(SCORES)), "power: scores of tasks have no variance of a query; give query_sd"),
    "nothing of queries": (lambda: rt.power(rt.compare(EFFECTS)), "power: effects from a paper have no variance of a query"),
    "no difference": (lambda: rt.power(rt.compare(frame(), effect="CORR", **FAST)), "effect CORR: there is no difference to detect"),
    "chance": (lambda: rt.power(query_sd=1, power=0.05), "power: 0.05 is what chance alone gives at alpha 0.05; expected more"),
    "less than chance": (lambda: rt.power(query_sd=1, power=0.01), "power: 0.01 is what chance alone gives at alpha 0.05"),
    "text": (lambda: rt.power(query_sd="x"), "query_sd: 'x'; expected a number above 0"),
    "negative": (lambda: rt.power(query_sd=1, collection_sd=-1), "collection_sd: -1; expected a number above 0"),
    "halves of queries": (lambda: rt.power(query_sd=1, queries=[10.5, 20]), "ascending whole numbers from 2"),
    "systems": (lambda: rt.power(query_sd=1, trained=5), "trained: 5; expected 0, 1 or 2"),
    "no path": (lambda: rt.read(5), "expected paths of files or folders, not 5"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_one_line(name):
    call, said = BAD[name]
    with refused(said):
        call()


def test_columns_of_other_types_are_read():
    plain = frame()
    categories = {name: plain[name].astype("category") for name in ("task", "query", "system")}
    polars = types.SimpleNamespace(to_pandas=lambda: plain)  # what Polars and Arrow have
    for other in (
        plain.assign(**categories),
        plain.convert_dtypes(),
        plain.assign(value=plain["value"].astype(str)),
        polars,
    ):
        same(rt.compare(other, **FAST), rt.compare(plain, **FAST))
    numbered = plain.assign(query=pd.factorize(plain["query"])[0])
    assert rt.compare(numbered, **FAST).summary.equals(rt.compare(plain, **FAST).summary)
    assert rt.compare(plain, **FAST).effects["effect"].dtype == float
    assert len(rt.evaluate(QRELS, {"a": RUN}, "AP")) == 2
    assert set(rt.power(query_sd=0.2, queries=np.array([10, 20]), effect=0.1).table["queries"]) == {10, 20}


def test_a_leaderboard_and_a_query_of_each_task_are_answered():
    assert rt.compare(SCORES).sentence().startswith("Over tasks like the 6 of leaderboard, mean score of m2 exceeds")
    assert rt.compare(SCORES.assign(m3=[0.3] * 5 + [0.2])).family is not None
    alone = frame().drop_duplicates(["task", "system"])
    found = rt.compare(alone, **FAST)
    why = "1 sample: the variance needs at least 2."
    assert found.sentence() == f"No task has an effect of better over base that can be computed: {why}"
    assert why.rstrip(".") in found.warnings[0]
    same = pd.DataFrame({"query": list("abc"), "x": [0.5, 0.2, 0.1]}).assign(y=lambda table: table["x"])
    assert rt.compare(same).sentence() == "y and x have the same score on every sample: there is nothing to test."
