"""Writes ranx.json: random runs with ties and missing documents, and what ranx 0.3.21 makes of them.

    pip install --target FOLDER ranx==0.3.21 && PYTHONPATH=FOLDER python tests/fusion/oracle/ranx_numbers.py

ranx breaks ties as its sorting happens to. Where ranks count, it is given the runs in trec_eval's order (score descending,
then document id descending) with strictly falling scores; where scores count, the scores as they are.
"""

import json
import random
from pathlib import Path

from ranx import Run, fuse

NORMS = {"min-max": "min-max", "z-score": "zmuv", "rank": "rank"}
WEIGHTS = [0.2, 0.5, 0.3]


def random_runs(seed=7, runs=3, queries=12, documents=15):
    draw = random.Random(seed)
    made = []
    for _ in range(runs):
        run = {}
        for query in range(queries):
            found = draw.sample(range(documents), draw.randint(1, documents))
            run[f"q{query}"] = {f"d{one}": round(draw.gauss(0, 3), 1 if query % 2 else 0) for one in found}
        made.append(run)
    made[0]["q0"] = {"d1": 2.5}  # one document
    made[1]["q1"] = {f"d{one}": -1.0 for one in range(6)}  # all equal
    made[2]["q2"] = {}  # a query that the run lacks
    made[0]["q3"] = {"d1": 1.0, "d2": 1.0 + 1e-11}  # hardly apart
    return made


def as_ranks(run):
    order = {
        query: sorted(found, key=lambda one: (found[one], one.encode()), reverse=True) for query, found in run.items()
    }
    return {
        query: {one: float(len(names) - place) for place, one in enumerate(names)} for query, names in order.items()
    }


def fused(runs, norm, method, params):
    """What ranx makes of the runs; a query that one lacks is fused from the others.

    (Of a run without documents for a query, ranx's z-scores leave out other queries too, without a word.)
    """
    made = {}
    for query in runs[0]:
        holding = [place for place, run in enumerate(runs) if run[query]]
        lists = [Run({query: runs[place][query]}) for place in holding]
        given = params | ({"weights": [params["weights"][place] for place in holding]} if "weights" in params else {})
        made |= fuse(lists, norm=norm, method=method, params=given).to_dict()
    return {query: dict(sorted(found.items())) for query, found in made.items()}


def main():
    runs = random_runs()
    ranked = [as_ranks(run) for run in runs]
    expected = [
        {"method": "reciprocal-rank", "k": k, "fused": fused(ranked, None, "rrf", {"k": k})} for k in (60, 0, 10)
    ]
    for ours, theirs in NORMS.items():
        given = ranked if ours == "rank" else runs
        for method, name, params in (
            ("weighted-sum", "wsum", {"weights": WEIGHTS}),
            ("CombSUM", "sum", {}),
            ("CombMNZ", "mnz", {}),
        ):
            made = fused(given, theirs, name, params)
            expected.append({"method": method, "normalise": ours, **params, "fused": made})
    runs = [{query: found for query, found in run.items() if found} for run in runs]
    parts = {key: ",\n".join(map(json.dumps, part)) for key, part in (("runs", runs), ("expected", expected))}
    lines = [f'"{key}": [\n{part}\n]' for key, part in parts.items()]  # a run, or a case, a line
    Path(__file__).with_name("ranx.json").write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
