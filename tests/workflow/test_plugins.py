"""Plug-ins: one toy of each kind comes as a new file, and one experiment that uses all of them is run to its end.

The dataset format, the section, the effect, the estimator and the kind of figure are the worked examples of
CONTRIBUTING.md, taken from there.
"""

import base64
import json
import math
import os
import random
import re
import shutil
import subprocess
import zipfile
import zlib
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest
import scipy.stats
from safetensors.numpy import save_file

from ranktrial.ir.trec import ranking, read_run
from tests.workflow.conftest import REPOSITORY, Workspace, copy

EXAMPLES = dict(
    re.findall(
        r"`((?:ranktrial|scripts)/\S+\.py)`[^`]*\n\n```python\n(.*?)```",
        (REPOSITORY / "CONTRIBUTING.md").read_text(),
        re.DOTALL,
    )
)
TOYS = {
    "ranktrial/statistics/intervals/plain_mean.py": '''"""Of the mean in which each task counts the same."""

from ranktrial.statistics.summaries import t_summary

NAME, DESCRIPTION, LABEL = "plain-mean", "of the unweighted mean", "unweighted"


def summary(y, variances, tau2, alpha):
    return t_summary(y.mean(), y.var(ddof=1) / len(y), len(y) - 1, alpha)
''',
    "ranktrial/statistics/task_intervals/unit.py": '''"""From -1 to 1, whatever the queries."""

from ranktrial.statistics.task_intervals import TaskInterval

NAME, DESCRIPTION, LABEL, P_VALUE = "unit", "from -1 to 1", "from -1 to 1", "{statistic} against nothing"
HOLDS_SEEDS = False


def fits(effect):
    return True


def interval(sample):
    return TaskInterval(NAME, -1.0, 1.0, 1.0, 0.0)
''',
    "ranktrial/models/types/word_weights.py": '''"""Words that a query and a document share, each with a weight; a word's place is its checksum."""

import zlib

NAME = "word-weights"
SEARCHES = True
BACKENDS = ("torch",)
DESCRIPTION = "shared words are weighted; max_length counts the words of a text"
LOSSES = {}


def load(folder, max_length, to_train=False):
    from safetensors.numpy import load_file

    return load_file(folder / "model.safetensors")["weights"], max_length


def encode(model, texts, batch_size, role):
    import numpy as np

    weights, longest = model
    vectors = np.zeros((len(texts), len(weights)), np.float32)
    for row, text in enumerate(texts):
        for word in text.split()[:longest]:
            vectors[row, zlib.crc32(word.encode()) % len(weights)] += 1
    return vectors * weights if role == "query" else vectors
''',
    "ranktrial/models/types/word_sets.py": '''"""The set of a text's words, an index of another form than any other kind has."""

NAME = "word-sets"
SEARCHES = True
INDEX = "word-sets"
BACKENDS = ("torch",)
DESCRIPTION = "shared words are counted; max_length counts the words of a text"
LOSSES = {}


def load(folder, max_length, to_train=False):
    return max_length


def encode(model, texts, batch_size, role):
    return [sorted(set(text.split()[:model])) for text in texts]
''',
    "ranktrial/inference/indices/word_sets.py": '''"""An index of sets of words: one line per document."""

import json

NAME, FILE = "word-sets", "words.jsonl"


def write_index(folder, chunks, checkpoint, shard=False):
    rows = [words for chunk in chunks for words in chunk]
    (folder / FILE).write_text("".join(json.dumps(words) + "\\n" for words in rows))
    return rows


def facts(index):
    return {"words": sum(map(len, index))}


def open_shard(folder, checkpoint):
    yield [json.loads(line) for line in (folder / FILE).read_text().splitlines()]
''',
    "ranktrial/inference/searches/word_sets.py": '''"""Search an index of sets of words: the documents that share most words with a query."""

import numpy as np

from ranktrial.inference.indices.word_sets import open_shard
from ranktrial.inference.searching import answer


def search(asked):
    (documents,) = open_shard(asked.index, asked.checkpoint)

    def find(texts):
        queries = asked.encode([text for (text,) in texts])
        scores = np.array([[len({*query} & {*words}) for words in documents] for query in queries], np.float32)
        rows = np.array([np.lexsort((asked.places, -row))[: asked.fetched] for row in scores])
        return np.take_along_axis(scores, rows, 1), rows

    answer(asked, find)
''',
    "ranktrial/inference/indices/thinned_vectors.py": '''"""Every n-th dimension of vectors, an index made from them."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ranktrial.inference.indices import Array, DerivedForm, check_size, read_arrays, vectors

NAME = "thinned-vectors"


@dataclass(frozen=True, kw_only=True)
class Keys:
    every: Annotated[int, "2: every second dimension is kept"]


@dataclass(frozen=True)
class Thinned:
    every: int

    @property
    def name(self):
        return f"every{self.every}"


class ThinnedVectors(DerivedForm):
    key, keys, settings, made_from = "thinned", Keys, Thinned, vectors.NAME
    description, refusal = "bi-encoders: some dimensions are kept", "has no vectors to thin"

    def resolve(self, keys, passages):
        return Thinned(keys.every)

    def text(self, settings):
        return f", searches one of {settings.every} dimensions"

    def build(self, folder, source, name):
        whole = vectors.read(source)
        np.save(folder / "kept.npy", whole[:, :: int(name.removeprefix("every"))])
        return {"documents": len(whole)}


FORM = ThinnedVectors()


def open_index(folder, documents):
    (kept,) = read_arrays(folder, {"kept": Array(np.float32, 2)})
    check_size(folder, len(kept), documents)
    return kept
''',
    "ranktrial/inference/searches/thinned_vectors.py": '''"""Search of thinned vectors."""

import numpy as np

from ranktrial.inference.indices.thinned_vectors import open_index
from ranktrial.inference.searching import answer


def search(asked):
    documents = open_index(asked.index, len(asked.documents))

    def find(texts):
        scores = asked.encode([text for (text,) in texts])[:, :: asked.derived.every] @ documents.T
        rows = np.array([np.lexsort((asked.places, -row))[: asked.fetched] for row in scores])
        return np.take_along_axis(scores, rows, 1), rows

    answer(asked, find)
''',
    "ranktrial/experiment/systems/backwards.py": '''"""The runs of another system, the last document first."""

from dataclasses import dataclass, replace
from typing import Annotated

from ranktrial.experiment.records import System
from ranktrial.experiment.system_types import Labelled, SystemType

NAME = "backwards"


@dataclass(frozen=True, kw_only=True)
class Keys(Labelled):
    of: Annotated[str, "backwards: the system"]


REFERENCES = {("of",): "systems"}
PLAIN_LISTS = []


class Backwards(SystemType):
    def resolve(self, check, name, entry, tasks):
        check.known(f"systems.{name}.of", entry.of, "systems")
        return System(name, NAME, entry.label or name, settings=entry)

    def takes(self, system):
        return (system.own(Keys).of,)

    def with_seeds(self, check, system, systems):
        return replace(system, seeds=systems[system.own(Keys).of].seeds)

    def describe(self, experiment, system):
        return f"{system.own(Keys).of}, the last first"

    def provenance(self, experiment, system):
        return {"method": "backwards", "of": system.own(Keys).of}


TYPE = Backwards()
''',
    "scripts/inference/backwards.py": '''"""Turn a run round: reads a run, writes one with the last document first, and its timing."""

from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
from ranktrial.common.timing import clock, write_timing
from ranktrial.ir.trec import ranking, read_run, write_run


def backwards(source: Path, run: Path, timing: Path, tag: Annotated[str, "the run's name, its last column"]):
    start, taken = clock(), read_run(source)
    turned = {query: {d: float(n) for n, d in enumerate(ranking(scores))} for query, scores in taken.items()}
    write_run(run, turned, tag)
    seconds = clock() - start
    rate = len(turned) / seconds
    write_timing(timing, method="backwards", queries=len(turned), seconds=seconds, queries_per_second=rate)


if __name__ == "__main__":
    job(backwards)
''',
    "rules/systems/backwards.smk": '''"""Backwards: another system's run, the last document first."""


def source_of_backwards(wildcards):
    taken = EXPERIMENT.systems[wildcards.system].settings.of
    return result("run", task=wildcards.task, system=taken, seed=wildcards.seed)


use rule in_workflow as backwards with:
    input:
        source=source_of_backwards,
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="backwards/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        system=systems_of_type("backwards"),
    params:
        **job("inference/backwards.py", lambda wildcards: dict(tag=f"{wildcards.system}-{wildcards.seed}")),
''',
} | EXAMPLES
ENTRIES = {  # of lists in files: the list, and an entry of it
    "ranktrial/ir/means.py": (
        "COLUMNS = (",
        'Column("median", lambda means, values: pd.concat([*values]).median(), " ({})", "( )", "the median over queries"),',
    ),
    "ranktrial/experiment/marks.py": (
        "MARKS = (",
        """Mark(
    "weighted",
    "°",
    lambda experiment, system, task: system.name == "words" and task.name == "faq",
    "; ° marks weighted words ({systems})",
    "°: words are weighted ({systems}).",
),""",
    ),
}
CONFIG = {
    "experiment": "toys",
    "measures": ["RR"],
    "depth": 20,
    "datasets": {
        "faq": {"format": "pairs", "location": "data/faq"},
        "manual": {"format": "pairs", "location": "data/manual", "file": "rows.tsv"},
    },
    "models": {
        "words": {"type": "word-weights", "weights": "weights/words", "max_length": 8},
        "sets": {"type": "word-sets", "weights": "weights/words", "max_length": 8},
    },
    "systems": {
        "words": {"model": "words"},
        "sets": {"model": "sets"},
        "thin": {"model": "words", "thinned": {"every": 2}},
        "again": {"model": "words", "rerank": {"first_stage": "sets", "depth": 5}},
        "turned": {"type": "backwards", "of": "words"},
    },
    "tasks": ["faq", "manual"],
    "comparisons": {
        "order": {
            "control": "turned",
            "treatment": "words",
            "measure": "RR",
            "effect": "ROM",
            "estimator": "SJ",
            "interval": "plain-mean",
            "task_interval": "unit",
        }
    },
    "waterfalls": {"sorted": {"comparison": "order", "title": "From the lowest"}},
}
WORDS = [f"word{number}" for number in range(30)]
BUCKETS = 8192
ROWS = 12  # of each dataset


def bucket(word: str) -> int:
    return zlib.crc32(word.encode()) % BUCKETS


def write_pairs(file: Path, seed: int) -> None:
    """Rows of a query and its text, which share two or three words."""
    rng, rows = random.Random(seed), []
    for _ in range(ROWS):
        text = rng.sample(WORDS, 6)
        rows.append(" ".join([*text[:2], rng.choice(WORDS)]) + "\t" + " ".join(text) + "\n")
    file.parent.mkdir(parents=True)
    file.write_text("".join(rows))


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Workspace:
    """The workflow in a git repository with data, weights and configuration; then the toys; then the experiment."""
    made = copy(REPOSITORY, tmp_path_factory.mktemp("plugins") / "ranktrial")
    shutil.copy(REPOSITORY / ".gitignore", made.folder)
    for seed, (name, dataset) in enumerate(CONFIG["datasets"].items()):
        write_pairs(made.folder / "data" / name / dataset.get("file", "pairs.tsv"), seed)
    (made.folder / "weights/words").mkdir(parents=True)
    (made.folder / "weights/words/config.json").write_text("{}")
    weights = np.ones(BUCKETS, np.float32)
    weights[[bucket(word) for word in WORDS[::2]]] = 2
    save_file({"weights": weights}, made.folder / "weights/words/model.safetensors")
    made.write_config(CONFIG)
    git(made.folder, "init", "--quiet")
    git(made.folder, "add", "--all")
    git(made.folder, "commit", "--quiet", "--message", "before")
    for path, text in TOYS.items():
        assert not (made.folder / path).exists()
        (made.folder / path).write_text(text)
    for path, (begins, entry) in ENTRIES.items():
        before = (made.folder / path).read_text()
        assert before.count(f"\n{begins}") == 1
        (made.folder / path).write_text(before.replace(f"\n{begins}", f"\n{begins}{entry}"))
    made.run("archive")  # of all that a run makes
    return made


def test_a_kind_of_each_is_one_new_file_and_nothing_else(house):
    assert len(EXAMPLES) == 6 and len(TOYS) == 17
    assert sum("backwards" in path for path in TOYS) == 3  # a type of system
    assert sum("word_sets" in path for path in TOYS) == 3  # a model with its own form of index
    assert sum("thinned" in path for path in TOYS) == 2  # a form of index that is made from vectors
    assert sum("waterfall" in path for path in TOYS) == 2  # a kind of figure
    status = git(house.folder, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert sorted(status) == sorted([*(f"?? {path}" for path in TOYS), *(f" M {path}" for path in ENTRIES)])


def expected_ranks(house: Workspace, dataset: str) -> list[int]:
    """The place, for each query, of its own text among all, by weighted shared words; of equals, the later id first."""
    file = house.folder / "data" / dataset / CONFIG["datasets"][dataset].get("file", "pairs.tsv")
    rows = [line.split("\t") for line in file.read_text().splitlines()]
    texts = {f"d{number}": text.split() for number, (_, text) in enumerate(rows, 1)}
    ranks = []
    for number, (query, _) in enumerate(rows, 1):
        score = {
            name: sum((1 + (int(word[4:]) % 2 == 0)) * text.count(word) for word in query.split())
            for name, text in texts.items()
        }
        best_first = sorted(score, key=lambda name: (score[name], name), reverse=True)
        run = read_run(house.folder / f"results/toys/runs/{dataset}/words/seed-0.trec.gz")
        assert run[f"q{number}"] == score
        first = read_run(house.folder / f"results/toys/runs/{dataset}/sets/seed-0.trec.gz")[f"q{number}"]
        ranked_again = read_run(house.folder / f"results/toys/runs/{dataset}/again/seed-0.trec.gz")[f"q{number}"]
        assert ranked_again == {name: score[name] for name in ranking(first)[:5]}
        ranks.append(best_first.index(f"d{number}") + 1)
    return ranks


def expected_effect(ranks: list[int]) -> tuple[float, float]:
    """The log ratio of the means of RR, and its variance by the delta method: that of the mean of x/mx - y/my."""
    words, turned = [1 / rank for rank in ranks], [1 / (ROWS + 1 - rank) for rank in ranks]
    parts = [x / mean(words) - y / mean(turned) for x, y in zip(words, turned, strict=True)]
    return math.log(mean(words) / mean(turned)), np.var(parts, ddof=1) / len(parts)


def test_a_new_form_of_index_is_written_and_searched(house):
    index = house.folder / "results/toys/embeddings/faq/sets/untrained/seed-0.word-sets"
    assert len((index / "words.jsonl").read_text().splitlines()) == ROWS
    rows = [line.split("\t") for line in (house.folder / "data/faq/pairs.tsv").read_text().splitlines()]
    texts = {f"d{number}": set(text.split()) for number, (_, text) in enumerate(rows, 1)}
    run = read_run(house.folder / "results/toys/runs/faq/sets/seed-0.trec.gz")
    for number, (query, _) in enumerate(rows, 1):
        assert run[f"q{number}"] == {name: len(words & set(query.split())) for name, words in texts.items()}
    timing = json.loads(index.with_suffix(".word-sets.timing.json").read_text())
    assert timing["words"] == sum(map(len, texts.values()))


def test_a_new_form_is_made_from_vectors_and_searched(house):
    results = house.folder / "results/toys"
    made = np.load(results / "embeddings/faq/words/untrained/seed-0.every2/kept.npy")
    assert (made == np.load(results / "embeddings/faq/words/untrained/seed-0.vectors/vectors.npy")[:, ::2]).all()
    rows = [line.split("\t") for line in (house.folder / "data/faq/pairs.tsv").read_text().splitlines()]
    kept = {word: 1 + (int(word[4:]) % 2 == 0) for word in WORDS if bucket(word) % 2 == 0}
    run = read_run(results / "runs/faq/thin/seed-0.trec.gz")
    for number, (query, _) in enumerate(rows, 1):
        assert run[f"q{number}"] == {
            f"d{row}": sum(kept.get(word, 0) for word in query.split() if word in text.split())
            for row, (_, text) in enumerate(rows, 1)
        }
    timing = json.loads((results / "runs/faq/thin/seed-0.timing.json").read_text())
    assert timing["thinned"] == {"every": 2} and "form" not in timing
    assert "searches one of 2 dimensions" in (results / "report.html").read_text()


def test_the_numbers_are_those_of_the_toys(house):
    assert len({bucket(word) for word in WORDS}) == len(WORDS)
    effects = [expected_effect(expected_ranks(house, task)) for task in CONFIG["tasks"]]
    y, variances = (np.array(column) for column in zip(*effects, strict=True))
    lines = (house.folder / "results/toys/effects/order.tsv").read_text().splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    assert [row["task"] for row in rows] == CONFIG["tasks"]
    assert [float(row["effect"]) for row in rows] == pytest.approx(y)
    assert [float(row["variance"]) for row in rows] == pytest.approx(variances)
    assert {(row["ci_low"], row["ci_high"], row["p_value"]) for row in rows} == {("-1.0", "1.0", "1.0")}
    assert "tasks from -1 to 1" in (house.folder / "results/toys/figures/order.svg").read_text()

    meta = json.loads((house.folder / "results/toys/meta/order.json").read_text())
    between = np.mean((y - y.mean()) ** 2)
    precision = between / (variances + between)
    centre = np.average(y, weights=precision)
    assert meta["tau2"] == pytest.approx(precision @ (y - centre) ** 2 / (len(y) - 1)) and meta["tau2"] > 0
    assert meta["summary"]["effect"] == pytest.approx(y.mean())
    interval = scipy.stats.t.interval(0.95, len(y) - 1, y.mean(), scipy.stats.sem(y))
    assert [meta["summary"][end] for end in ("ci_low", "ci_high")] == pytest.approx(interval)


def test_what_is_shown_has_the_words_of_the_toys(house):
    results = house.folder / "results/toys"
    assert "Log ratio of means of RR" in (results / "figures/order.svg").read_text()
    page = (results / "tables/effects/order.md").read_text()
    assert "Random effects (SJ, unweighted)" in page and "log ratio" in page
    report = (results / "report.html").read_text()
    assert "words, the last first" in report and "word-weights words" in report
    assert "turned" in (results / "tables/inference-times.tsv").read_text()


def test_a_new_section_stands_in_its_place_on_both_pages_and_its_figure_on_one(house):
    results = house.folder / "results/toys"
    heads, *rows = [line.split("\t") for line in (results / "tables/means.tsv").read_text().splitlines()]
    scores = {
        task: {row[1]: float(row[heads.index("RR")]) for row in rows if row[0] == task} for task in CONFIG["tasks"]
    }
    best = {task: max(systems, key=systems.__getitem__) for task, systems in scores.items()}
    summary, page = (results / "summary.md").read_text(), (results / "report.html").read_text()
    titles = re.findall(r"^## (.*)$", summary, re.MULTILINE)
    assert titles[titles.index("Means") + 1] == "Best systems"
    for task, system in best.items():
        assert f"- {task}: {system}\n" in summary and f"<li>{task}: {system}</li>" in page
    figure = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"></div>\n<figcaption>Number of tasks on which', page)
    drawn = base64.b64decode(figure[1]).decode()
    assert all(system in drawn for system in best.values()) and "best.svg" not in summary


def test_a_column_and_a_mark_of_the_means_are_computed_and_shown_and_explained_on_both_pages(house):
    results = house.folder / "results/toys"
    heads, *rows = [line.split("\t") for line in (results / "tables/means.tsv").read_text().splitlines()]
    (row,) = [dict(zip(heads, row, strict=True)) for row in rows if row[:2] == ["faq", "words"]]
    lines = (results / "metrics/faq/words/seed-0.tsv").read_text().splitlines()
    values = [float(line.split("\t")[lines[0].split("\t").index("RR")]) for line in lines[1:]]
    assert float(row["RR median"]) == median(values)
    cell = f"{mean(values):.3f} ({median(values):.3f})"
    printed, report = (results / "tables/means.md").read_text(), (results / "report.html").read_text()
    assert f"{cell}°" in printed and f"{cell}°" in report and printed.count(")°") == 1
    assert "- ( ): the median over queries." in printed and "; ( ) is the median over queries" in report
    assert "- °: words are weighted (words)." in printed and "; ° marks weighted words (words)" in report
    scores = {"format": "scores", "measure": "RR median"}
    house.write_config(CONFIG | {"datasets": CONFIG["datasets"] | {"s": scores}}, "reserved.yaml")
    done = house.snakemake("--dry-run", config="reserved.yaml")
    assert "'RR median' is the name of another column" in done.stdout + done.stderr


def test_a_kind_of_figure_is_drawn_and_stands_on_the_page_and_in_the_archive(house):
    results = house.folder / "results/toys"
    for suffix in ("svg", "pdf", "png"):
        assert (results / f"figures/waterfall-sorted.{suffix}").stat().st_size > 1000
    report, summary = ((results / name).read_text() for name in ("report.html", "summary.md"))
    figure = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"></div>\n<figcaption>The effects of a comp', report)
    for drawn in ((results / "figures/waterfall-sorted.svg").read_text(), base64.b64decode(figure[1]).decode()):
        assert ">From the lowest<" in drawn
    assert "Waterfall plots</h2>" in report and "## Waterfall plots" in summary
    assert "figures/waterfall-sorted.svg" in summary
    with zipfile.ZipFile(results / "toys.crate.zip") as archive:
        assert "results/toys/figures/waterfall-sorted.svg" in archive.namelist()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"waterfalls": {"sorted": {"comparison": "no"}}}, "waterfalls.sorted.comparison: unknown name 'no'"),
        ({"waterfalls": {"sorted": {"compared": "order"}}}, "waterfalls.sorted: "),
        (
            {"comparisons": {"waterfall-x": CONFIG["comparisons"]["order"]}},
            "comparisons.waterfall-x: names that begin with 'waterfall-' are reserved for the waterfall plots",
        ),
    ],
)
def test_mistakes_in_the_keys_of_a_figure_are_one_line(house, changes, said):
    house.write_config(CONFIG | changes, "wrong.yaml")
    done = house.snakemake("--dry-run", config="wrong.yaml")
    assert done.returncode == 1 and f"error: wrong.yaml: {said}" in done.stdout + done.stderr


@pytest.mark.long
def test_an_archive_of_them_is_verified(house):
    verify = ["scripts/archive/verify.py", "--archive", "results/toys/toys.crate.zip", "--recompute"]
    environment = os.environ | {"PYTHONPATH": "."}
    command = [house.python, *verify]
    done = subprocess.run(command, cwd=house.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
