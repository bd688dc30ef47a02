"""Programs and classes of the user's, run for real: what they get, what is made of their runs, what each failure says."""

import json
import sys
import time
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.programs import packages_of, run_program
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import read_run, write_qrels, write_run
from scripts.command import jobs
from tests.support.calling import call
from tests.support.one_line import refused

SECRET = "sk-0123456789abcdef"
TEXTS = {"d1": "hail and storm", "d2": "fire", "d3": "storm", "d4": "a flood after a storm"}
QUERIES = {"q1": "storm", "q2": "fire flood", "q3": "quiet"}
OVERLAP = """
import json, sys
queries, corpus, run, depth = sys.argv[1:5]
documents = {d["_id"]: set(d["text"].split()) for d in map(json.loads, open(corpus))}
with open(run, "w") as file:
    for query in map(json.loads, open(queries)):
        scores = {d: len(words & set(query["text"].split())) for d, words in documents.items()}
        best = sorted((d for d in scores if scores[d]), key=scores.get, reverse=True)[: int(depth)]
        file.writelines(f"{query['_id']} {d} {rank} {scores[d]}\\n" for rank, d in enumerate(best, 1))
"""
AWK = """
BEGIN { FS = "\\t" }
NR == FNR { text[$1] = " " $2 " "; next }
{ n = split($2, words, " ")
  for (id in text) { score = 0
    for (i = 1; i <= n; i++) score += index(text[id], " " words[i] " ") > 0
    if (score) print $1, "Q0", id, 1, score, "awk" > run } }
"""
RANKER = """
class Overlap:
    def __init__(self, weight=1.0, seed=0, model=None):
        self.weight, self.seed = weight, seed
        self.boost = open(model + "/boost").read() if model else "0"
    def index(self, corpus):
        self.words = {name: set(text["text"].split()) for name, text in corpus.items()}
    def search(self, queries, k):
        scores = {q: {d: self.weight * len(words & set(text.split())) + self.seed + int(self.boost)
                      for d, words in self.words.items() if words & set(text.split())} for q, text in queries.items()}
        return {q: dict(list(of.items())[:k]) for q, of in scores.items()}
    def rerank(self, queries, candidates):
        return {q: {d: -score for d, score in candidates[q].items()} for q in queries}
    def train(self, corpus, queries, qrels, folder):
        open(folder + "/boost", "w").write(str(len(corpus) + len(queries) + int(sum(qrels["q1"].values()))))
"""
EXPECTED = {"q1": {"d1", "d3", "d4"}, "q2": {"d2", "d4"}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with a collection and code."""
    monkeypatch.chdir(tmp_path)
    write_corpus(Path("corpus.jsonl"), [Document(name, "", text) for name, text in TEXTS.items()])
    write_queries(Path("queries.jsonl"), QUERIES, {"q1": {"d3"}})
    write_qrels(Path("qrels"), {"q1": {"d1": 1, "d3": 2}})
    write_run(Path("first.trec"), {"q1": {"d1": 3.0, "d3": 2.0, "d2": 1.0}}, "first")
    Path("rankers").mkdir()
    for name, text in (("overlap.py", OVERLAP), ("overlap.awk", AWK), ("mine.py", RANKER)):
        Path("rankers", name).write_text(text)
    return tmp_path


def run(code="rankers/mine.py", paths=None, **settings):
    given = {"system": "mine", "depth": 2, "tag": "mine-0"} | settings
    inputs = {"corpus": Path("corpus.jsonl"), "queries": Path("queries.jsonl"), "code": [Path(code)]} | (paths or {})
    call(jobs.run_command, given, **inputs, run=Path("out.trec.gz"), timing=Path("timing.json"))
    return read_run(Path("out.trec.gz")), json.loads(Path("timing.json").read_text())


def program(*words):
    return [sys.executable, "rankers/overlap.py", "{queries}", "{corpus}", "{run}", "{depth}", *words]


PROGRAMS = {
    "python": program(),
    "awk": ["awk", "-v", "run={run}", "-f", "rankers/overlap.awk", "{corpus_tsv}", "{queries_tsv}"],
}


@pytest.mark.parametrize("command", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_in_any_language_ranks_and_its_run_is_cut_without_excluded_documents(folder, command):
    ranked, timing = run(command=command)
    assert {query: set(scores) for query, scores in ranked.items()} == EXPECTED | {"q1": {"d1", "d4"}}  # without d3
    assert timing["queries"] == 3 and timing["depth"] == 2 and timing["seconds"] > 0 and "latency_ms" not in timing
    assert timing["threads"] >= 1 and timing["device"] == "cpu" and timing["peak_gpu_bytes"] == 0
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_time_and_memory_are_those_of_the_program(folder):
    heavy = "import time; held = bytearray(200_000_000); time.sleep(0.4); "
    Path("rankers/heavy.py").write_text(heavy + OVERLAP.strip())
    _, timing = run(command=[sys.executable, "rankers/heavy.py", *program()[2:]])
    assert 0.4 < timing["seconds"] < 20 and 200e6 < timing["peak_rss_bytes"] < 300e6
    children = "import subprocess, sys; subprocess.run([sys.executable, 'rankers/heavy.py', *sys.argv[1:]], check=True)"
    _, timing = run(command=[sys.executable, "-c", children, *program()[2:]])
    assert 205e6 < timing["peak_rss_bytes"] < 320e6


def test_seed_threads_and_gpu_are_words_and_variables(folder, monkeypatch):
    said = "import os, sys; print(sys.argv[1:], *(os.environ.get(name) for name in sys.argv[1].split()), file=open('said', 'w'))\n"
    Path("rankers/said.py").write_text(said + "open(sys.argv[2], 'w').write('q1 d1 1 1\\n')")
    names = "RANKTRIAL_SEED RANKTRIAL_THREADS RANKTRIAL_GPUS CUDA_VISIBLE_DEVICES PYTHONHASHSEED OMP_NUM_THREADS"
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    words = [sys.executable, "rankers/said.py", names, "{run}", "{seed}", "{threads}", "{gpus}", "{k1}", '{"a": {}}']
    run(command=words, seed=5, parameters={"k1": 0.9})
    text = Path("said").read_text()
    assert "'5', '3', '0', '0.9', '{\"a\": {}}'] 5 3 0  5 3" in text
    run(command=words, seed=5, parameters={"k1": 0.9}, gpu=True)
    assert Path("said").read_text().endswith("5 3 1 7 5 3\n")


def test_a_re_ranker_gets_the_candidates_and_no_others(folder):
    words = [sys.executable, "-c", "import shutil, sys; shutil.copy(*sys.argv[1:])", "{first_stage}", "{run}"]
    paths = {"first_stage": Path("first.trec")}
    ranked, _ = run(paths=paths, command=words, candidates=2, depth=9)
    assert ranked == {"q1": {"d1": 3.0}}  # d2 is the third, d3 is excluded
    with pytest.raises(
        UserError, match=r"systems.mine: its run has 'd4' for query q1, which is none of its candidates"
    ):
        run(paths=paths, command=program(), candidates=3, depth=9)


WRITES = "import sys; open(sys.argv[1], 'w').write({!r})"
FAILURES = {
    "an exit code, with the last line": (["-c", "import sys; print('a\\n error: all is lost\\n', file=sys.stderr); sys.exit(3)"],
     "systems.mine: its program ended with exit code 3: error: all is lost"),
    "an exception": (["-c", "{}['x']"], "systems.mine: its program ended with exit code 1: KeyError: 'x'"),
    "without a word": (["-c", "raise SystemExit(2)"], "ended with exit code 2: it wrote nothing to stderr"),
    "a signal": (["-c", "import os; os.kill(os.getpid(), 9)"], "systems.mine: its program was ended by SIGKILL (out of memory?)"),
    "no run": (["-c", "pass"], "systems.mine: its program ended without an error, but wrote no run to {run}"),
    "an empty run": (["-c", WRITES.format("\n"), "{run}"], "systems.mine: its run is empty"),
    "two columns": (["-c", WRITES.format("q1 d1\n"), "{run}"], "systems.mine: its run:1: 2 columns, but a run has 6"),
    "an unknown query": (["-c", WRITES.format("q9 d1 1 1\n"), "{run}"], "systems.mine: its run has unknown queries: 1, such as 'q9'"),
    "an unknown document": (["-c", WRITES.format("q1 d9 1 1\n"), "{run}"], "its run has documents that the corpus lacks: 1, such as 'd9'"),
    "no number": (["-c", WRITES.format("q1 d1 1 nan\n"), "{run}"], "systems.mine: its run:1: score 'nan' is not finite"),
    "a document twice": (["-c", WRITES.format("q1 d1 1 2\nq1 d1 2 1\n"), "{run}"], "systems.mine: its run:2: duplicate document d1"),
    "not text": (["-c", "import sys; open(sys.argv[1], 'wb').write(b'\\xff\\x00')", "{run}"], "systems.mine: its run"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "said"), FAILURES.values(), ids=FAILURES)
def test_each_failure_is_one_line_and_leaves_nothing(folder, words, said):
    with pytest.raises(UserError) as error:
        run(command=[sys.executable, *words])
    assert said in str(error.value) and "\n" not in str(error.value) and "/tmp/" not in str(error.value)
    assert not list(folder.glob("out*")) and not list(folder.glob("timing*"))


def test_a_program_that_is_not_there(folder):
    with pytest.raises(UserError, match=r"systems.mine: no-such-program cannot be started: No such file"):
        run(command=["no-such-program", "{run}"])
    with pytest.raises(UserError, match=r"systems.mine.python: no file 'envs/none/bin/python'"):
        run(command=["python", "{run}"], python="envs/none/bin/python")


def test_secrets_of_the_environment_reach_neither_log_nor_message(folder, monkeypatch, capfd):
    monkeypatch.setenv("MY_API_KEY", SECRET)
    code = "import os, sys; print(os.environ['MY_API_KEY']); sys.exit(f'error: refused {os.environ[\"MY_API_KEY\"]}')"
    with pytest.raises(UserError, match=r"exit code 1: error: refused \*\*\*$"):
        run(command=[sys.executable, "-c", code])
    out, err = capfd.readouterr()
    assert SECRET not in out + err and "| ***" in out and "| error: refused ***" in err


def test_a_program_ends_with_what_it_started(folder):
    """It would otherwise compute on."""
    left = "import subprocess; subprocess.Popen(['sleep', '60']); print('done')"
    start = time.monotonic()
    run_program([sys.executable, "-c", left], {"PATH": "/usr/bin:/bin"}, "it")
    assert time.monotonic() - start < 10


def test_a_class_ranks_with_its_parameters_and_its_searches_are_timed(folder):
    ranked, timing = run(ranker="rankers.mine:Overlap", parameters={"weight": 2.5}, seed=1)
    assert ranked == {"q1": {"d1": 3.5, "d4": 3.5}, "q2": {"d2": 3.5, "d4": 3.5}}
    assert timing["latency_ms"]["n"] == 3 and timing["seconds"] < timing["program_seconds"]
    assert timing["index_seconds"] >= 0 and timing["versions"]["python"].startswith("3.")
    ranked, _ = run(paths={"first_stage": Path("first.trec")}, ranker="rankers.mine:Overlap", candidates=3)
    assert ranked == {"q1": {"d2": -1.0, "d1": -3.0}}


def test_a_class_learns_and_gets_what_it_has_learnt(folder):
    inputs = {name: Path(f"{name}.jsonl") for name in ("corpus", "queries")} | {"qrels": Path("qrels")}
    inputs |= {"code": [Path("rankers")], "model": Path("model"), "timing": Path("learnt.json")}
    call(jobs.train_command, {"system": "mine", "ranker": "rankers.mine:Overlap", "seed": 2}, **inputs)
    assert Path("model/boost").read_text() == "10" and json.loads(Path("learnt.json").read_text())["seconds"] >= 0
    ranked, _ = run(paths={"model": Path("model")}, ranker="rankers.mine:Overlap", seed=2)
    assert ranked["q2"] == {"d2": 13.0, "d4": 13.0}
    words = [sys.executable, "-c", "import sys; open(sys.argv[1] + '/x', 'w').write(sys.argv[2])", "{model}", "{seed}"]
    call(jobs.train_command, {"system": "mine", "command": words, "seed": 4}, **inputs)
    assert [path.name for path in Path("model").iterdir()] == ["x"] and Path("model/x").read_text() == "4"
    with pytest.raises(UserError, match=r"systems.mine.train: its program ended without an error, but wrote nothing"):
        call(jobs.train_command, {"system": "mine", "command": [sys.executable, "-c", ""]}, **inputs)
    assert Path("model/x").exists()


def test_a_file_that_a_class_imports_unnoticed_is_named(folder):
    Path("rankers/further.py").write_text("")
    Path("rankers/mine.py").write_text("import rankers.further\n" + RANKER)
    with pytest.raises(
        UserError, match=r"systems.mine.code: rankers/further.py was imported, and an edit would not be"
    ):
        run(ranker="rankers.mine:Overlap")
    run(ranker="rankers.mine:Overlap", code="rankers")
    assert not Path("rankers/__pycache__").exists()


@pytest.mark.parametrize(
    ("ranker", "text", "said"),
    [
        ("rankers.none:X", RANKER, "ModuleNotFoundError: No module named 'rankers.none'"),
        ("rankers.mine:None_", RANKER, "AttributeError: module 'rankers.mine' has no attribute 'None_'"),
        ("rankers.mine:Overlap", RANKER.replace("return {q: dict", "return 3, {q: dict"), "TypeError: expected {query"),
        ("rankers.mine:Overlap", RANKER.replace("def index", "def other"), "Overlap needs index(corpus) and search(queries, k)"),
        ("rankers.mine:Overlap", RANKER.replace("return {q: dict", "return {}[0], {q: dict"), ": rankers/mine.py:LINE: KeyError: 0"),
        ("rankers.mine:Overlap", "import json\njson.loads('{')\n", ": rankers/mine.py:2: json.decoder.JSONDecodeError: "),
    ],
)  # fmt: skip
def test_each_mistake_of_a_class_is_its_last_line(folder, ranker, text, said):
    Path("rankers/mine.py").write_text(text)
    place = next((number for number, line in enumerate(text.splitlines(), 1) if "{}[0]" in line), 0)
    said = said.replace("LINE", str(place))
    with refused(said, start="systems.mine: its program ended with exit code 1: "):
        run(ranker=ranker)


def test_an_environment_is_named_and_its_packages_are_found(folder):
    """The programs of a virtual environment come first; conda and Apptainer are called (neither is run here)."""
    binaries, packages = Path("envs/e/bin"), Path("envs/e/lib/python3.12/site-packages")
    for place in (binaries, packages / "bm25s-0.2.1.dist-info", packages / "my_pkg-1.0.dist-info"):
        place.mkdir(parents=True)
    (binaries / "python").touch()
    assert packages_of(binaries / "python") == {"bm25s": "0.2.1", "my_pkg": "1.0"}
    assert packages_of(Path("envs/none/bin/python")) == {}
    place = jobs.Ranking(system="s", depth=1, tag="t", python="envs/e/bin/python")
    assert jobs.environment(place, folder)["PATH"].split(":")[0] == str(folder / "envs/e/bin")
    assert jobs.placed(place, ["python", "x"], folder) == [str(folder / "envs/e/bin/python"), "x"]
    assert jobs.placed(place, ["tool"], folder) == ["tool"]
    conda = jobs.Ranking(system="s", depth=1, tag="t", conda="envs/c")
    assert jobs.placed(conda, ["x"], folder) == ["conda", "run", "--no-capture-output", "-p", "envs/c", "x"]
    image = jobs.Ranking(system="s", depth=1, tag="t", container="docker://i@sha256:0", gpu=True)
    words = ["apptainer", "exec", "--nv", "--bind", str(folder), "docker://i@sha256:0", "x"]
    assert jobs.placed(image, ["x"], folder) == words
