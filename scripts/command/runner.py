"""Runs a ranker that is a Python class, in the user's own environment: needs the standard library alone (Python 3.8).

    python runner.py REQUEST      a JSON file that scripts/command/jobs.py writes

The class is called with its parameters (and `seed`, `model`) and has `index(corpus)` and `search(queries, k)`, or, to
re-rank, `rerank(queries, candidates)`; one that is trained has `train(corpus, queries, qrels, folder)`. Types are
BEIR's: corpus {id: {"title": …, "text": …}}, queries {id: text}, qrels {query: {document: grade}}, and as candidates
and results {query: {document: score}}. Writes a TREC run and a JSON file of times, versions and imported files.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import time
import traceback
from importlib import metadata

SIGNATURES = {
    "index": "index(corpus)",
    "search": "search(queries, k)",
    "rerank": "rerank(queries, candidates)",
    "train": "train(corpus, queries, qrels, folder)",
}
MOST, LONGEST = 100, 5.0  # queries that are searched one at a time for latency, and seconds after which no more are


def records(path):
    """Id -> record of a file of JSON lines."""
    with open(path, encoding="utf-8") as file:
        return {record.pop("_id"): record for record in map(json.loads, file)}


def table(path, columns):
    """{query: {document: number}} of a run or of qrels; `columns` are the places of the three."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            query, document, number = (fields[place] for place in columns)
            found.setdefault(query, {})[document] = float(number)
    return found


def now():
    """Seconds, after all queued work of a GPU."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def timed(task, *arguments):
    start = now()
    result = task(*arguments)
    return result, now() - start


def written(path, run):
    """Write a run. Raises TypeError if it is not one."""
    if not isinstance(run, dict) or not all(isinstance(scores, dict) for scores in run.values()):
        raise TypeError(f"expected {{query: {{document: score}}}} from the ranker, not {type(run).__name__}")
    with open(path, "w", encoding="utf-8") as file:
        for query, scores in run.items():
            best = sorted(((float(score), document) for document, score in scores.items()), key=lambda one: -one[0])
            for rank, (score, document) in enumerate(best, 1):
                file.write(f"{query} {document} {rank} {score!r}\n")


def ranked(ranker, request, corpus, queries):
    """Rank the queries; returns what was measured: indexing, all queries at once, and single ones."""
    first = table(request["first_stage"], (0, 2, 4)) if request.get("first_stage") else None
    indexing = timed(ranker.index, corpus)[1] if first is None or hasattr(ranker, "index") else None

    def search(some):
        if first is None:
            return ranker.search(some, request["k"])
        return ranker.rerank(some, {query: first[query] for query in some})

    queries = queries if first is None else {query: text for query, text in queries.items() if query in first}
    each = [{query: text} for query, text in queries.items()]
    if each:
        search(each[0])  # the warm-up
    run, seconds = timed(search, queries)
    singles = []
    for one in each[:MOST]:
        singles.append(timed(search, one)[1])
        if sum(singles) > LONGEST:
            break
    written(request["run"], run)
    return {"index_seconds": indexing, "seconds": seconds, "singles": singles}


def versions():
    """The installed packages whose modules are loaded."""
    standard = getattr(sys, "stdlib_module_names", ())
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in sorted({module.partition(".")[0] for module in list(sys.modules)} - set(standard)):
        try:
            found[name] = metadata.version(name)
        except Exception:  # no package of this name
            continue
    return found


def is_own(file):
    """Whether a file lies below the working folder and in no environment."""
    here, *environments = (os.path.realpath(place) + os.sep for place in (os.getcwd(), sys.prefix, sys.base_prefix))
    path = os.path.realpath(file)
    inside = path.startswith(here) and not path.startswith(tuple(environments))
    return inside and path != os.path.realpath(__file__) and os.path.isfile(path)  # torch has names of no files


def imported():
    """The files of the user's modules, relative to the working folder."""
    files = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    return sorted(
        os.path.relpath(os.path.realpath(file), os.path.realpath(os.getcwd())) for file in files if is_own(file)
    )


def gpu():
    """The name and peak memory of the GPU that torch used; nothing without."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return {}
    return {"device": torch.cuda.get_device_name(), "peak_gpu_bytes": torch.cuda.max_memory_allocated()}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    sys.path[0] = os.getcwd()  # in place of this file's folder
    sys.dont_write_bytecode = True  # the folder of the class is the user's, and an input of the job
    random.seed(request.get("seed"))
    module, _, name = request["ranker"].partition(":")
    made = importlib.import_module(module)
    for part in name.split("."):
        made = getattr(made, part)
    corpus = records(request["corpus"])
    queries = {query: record["text"] for query, record in records(request["queries"]).items()}
    ranker = made(**request["arguments"])
    needed = ["train"] if "qrels" in request else ["rerank"] if request.get("first_stage") else ["index", "search"]
    if any(not hasattr(ranker, method) for method in needed):
        raise TypeError(f"{name} needs {' and '.join(SIGNATURES[method] for method in needed)}")
    if "qrels" in request:
        grades = table(request["qrels"], (0, 2, 3))
        facts = {"seconds": timed(ranker.train, corpus, queries, grades, request["model"])[1]}
    else:
        facts = ranked(ranker, request, corpus, queries)
    facts.update(gpu(), versions=versions(), imported=imported())
    with open(request["facts"], "w", encoding="utf-8") as file:
        json.dump(facts, file)


def told(error):
    """The calls below this file that led to an exception, and as the last line the exception with its place."""
    below = [call for call in traceback.extract_tb(error.__traceback__) if call.filename != __file__]
    said = " ".join("".join(traceback.format_exception_only(type(error), error)).split())
    own = [call for call in below if is_own(call.filename)]
    if not own:
        return said
    return "".join(traceback.format_list(below)) + f"{os.path.relpath(own[-1].filename)}:{own[-1].lineno}: {said}"


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.exit(told(error))
