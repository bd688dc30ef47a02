"""A user's file of judgements: TREC's four columns (qid 0 docid grade), or BEIR's three with tabs and maybe a heading.

Which of both it is, the number of columns says; all lines of a file have the same.
"""

from __future__ import annotations

from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.files import lines
from scripts.ir.trec import Qrels, add_judgement, columns

JUDGEMENTS = "a file of judgements for each split (TREC's four columns, or BEIR's three)"  # of a key
HEADINGS = ("query-id", "query_id", "qid")
EXPECTED = "a file of judgements has TREC's 4 (qid 0 docid grade), or 3 with tabs (query-id, corpus-id, score)"


def read_judgements(path: Path) -> Qrels:
    """Query id -> document id -> grade.

    Raises UserError, with the line, for another number of columns, a grade that is not a whole number, and two
    different grades of one document.
    """
    qrels: Qrels = {}
    width = 0
    for number, line in lines(path):
        where = f"{path}:{number}"
        by_tabs = [field.strip() for field in line.split("\t")]
        if number == 1 and by_tabs[0] in HEADINGS:
            continue
        fields = by_tabs if len(by_tabs) == 3 else columns(line, path, number)
        width = width or len(fields)
        if len(fields) != width or (width != 4 and len(by_tabs) != 3):
            several = f"the lines above have {width}" if width in (3, 4) and len(fields) != width else EXPECTED
            raise UserError(f"{where}: {len(fields)} columns, but {several}")
        add_judgement(qrels, fields[0], fields[-2], fields[-1], where)
    return qrels
