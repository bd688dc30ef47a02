"""Small folders of data in each of the layouts that `make new` knows."""

from pathlib import Path

from tests.support.beir import write_beir

QUERIES = [f"q{number}" for number in range(1, 9)]


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files, by their names below a folder; gives the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def run(tag: str, shift: int, prefix: str = "") -> str:
    lines = [
        f"{prefix}{query} Q0 {prefix}d{(place + rank * shift) % 8 + 1} {rank} {9.5 - rank} {tag}\n"
        for place, query in enumerate(QUERIES)
        for rank in range(1, 5)
    ]
    return "".join(lines)


def qrels(prefix: str = "") -> str:
    return "".join(f"{prefix}{query} 0 {prefix}d{place % 8 + 1} 1\n" for place, query in enumerate(QUERIES, 1))


def beir(folder: Path, splits: tuple[str, ...] = ("test",)) -> Path:
    documents = [{"_id": f"d{n}", "title": f"title {n}", "text": f"fire and flood {n}"} for n in range(1, 9)]
    judged = [f"{query}\td{n}\t1" for n, query in enumerate(QUERIES, 1)]
    return write_beir(folder, documents, {query: f"flood {query}" for query in QUERIES}, dict.fromkeys(splits, judged))


def trec(folder: Path) -> Path:
    documents = [f"<DOC>\n<DOCNO>d{n}</DOCNO>\n<TEXT>fire and flood {n}</TEXT>\n</DOC>\n" for n in range(1, 9)]
    topics = [f"<top>\n<num> Number: {query}\n<title> flood {query}\n</top>\n" for query in QUERIES]
    return write(folder, {"docs/disk.sgml": "".join(documents), "topics.txt": "".join(topics), "qrels.txt": qrels()})


def runs(folder: Path) -> Path:
    """Two tasks, of which each system has a file in its own folder."""
    files = {f"{name}_qrels.txt": qrels(name) for name in ("covid", "news")}
    for system, shift in (("bm25", 2), ("dense", 3)):
        files |= {f"{system}/{name}_top4.txt": run(system, shift, name) for name in ("covid", "news")}
    return write(folder, files)


def scores(folder: Path) -> Path:
    """Two tasks, a CSV each, with a column per system."""
    rows = {
        name: [f"{query},{n % 3 / 4},{n % 4 / 4 + shift}" for n, query in enumerate(QUERIES)]
        for name, shift in (("rte", 0.1), ("cola", 0.2))
    }
    return write(
        folder, {f"{name}.csv": "\n".join(["query_id,bm25,dense", *lines]) + "\n" for name, lines in rows.items()}
    )


LAYOUTS = {"beir": beir, "trec": trec, "runs": runs, "scores": scores}
