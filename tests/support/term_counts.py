"""Term counts of documents given as lists of terms, without an index."""

import json
from pathlib import Path

import numpy as np

from ranktrial.ir.term_counts import STATISTICS, TermCounts, write_names


def write_term_counts(folder: Path, documents: dict[str, list[str]], field="contents", fields="together") -> TermCounts:
    """The folder that counting an index of these documents would write, written the slow way."""
    ids = sorted(documents, key=str.encode)
    terms = sorted({term for document in documents.values() for term in document}, key=str.encode)
    rows, counts, starts = [], [], [0]
    for term in terms:
        holding = [row for row, name in enumerate(ids) if term in documents[name]]
        rows += holding
        counts += [documents[ids[row]].count(term) for row in holding]
        starts.append(len(rows))
    (folder / field).mkdir(parents=True)
    write_names(folder / "documents.txt", ids)
    write_names(folder / field / "terms.txt", terms)
    np.save(folder / field / "starts.npy", np.array(starts, dtype=np.int64))
    np.save(folder / field / "documents.npy", np.array(rows, dtype=np.int32))
    np.save(folder / field / "counts.npy", np.array(counts, dtype=np.int32))
    np.save(folder / field / "lengths.npy", np.array([len(documents[name]) for name in ids], dtype=np.int64))
    about = {"analyzer": "english", "fields": fields, "documents": len(ids), "fields_with_terms": [field]}
    (folder / STATISTICS).write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")
    return TermCounts(folder)
