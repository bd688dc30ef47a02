"""Judge the top documents of several runs with a language model behind an endpoint of OpenAI's protocol.

Reads the corpus, the queries of a split and the runs, and with `holes` the existing judgements, whose documents are not
judged again. Writes qrels for all splits (those of other splits are empty), with their counts, all answers (JSON lines,
gzip) and the timing with their cost. A document whose answer has no grade remains unjudged, and is counted. The folder
beside the answers, `.resume`, caches each answer: the same command later only requests what is missing.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text, write_json
from ranktrial.common.keys import JsonObject
from ranktrial.common.progress import Progress
from ranktrial.common.timing import write_timing
from ranktrial.inference.candidates import Candidates, read_documents
from ranktrial.inference.chats import Ask, Chat, costs, reported_settings, request_of
from ranktrial.inference.grading import grade_of, messages
from ranktrial.ir.collection import passages_of
from ranktrial.ir.trec import Qrels, judged, ranking, read_qrels, read_run, write_qrels
from ranktrial.models.chat_settings import ChatSettings
from ranktrial.models.endpoint import Answer


@dataclass(frozen=True, kw_only=True)
class Settings(ChatSettings):
    split: Annotated[str, "the split whose queries are judged"]
    depth: Annotated[int, "number of top documents per query and run that are judged"]
    max_words: Annotated[int, "words kept of a document"]
    relevant_from: Annotated[int, "the lowest grade that counts as relevant; lower ones become 0"] = 1


class Judgement(NamedTuple):
    """One document of a query: the request, the answer and its grade, None if it has none."""

    query: str
    document: str
    request: str
    answer: Answer
    grade: int | None


def pool(runs: Sequence[Path], queries: Sequence[str], depth: int, known: Qrels) -> Candidates:
    """The top unjudged documents of all runs, by query, each once, those of the first run first."""
    read = [read_run(path) for path in runs]
    found: Candidates = {}
    for query in queries:
        best = [document for one in read for document in ranking(one.get(query, {}))[:depth]]
        grades = known.get(query, {})
        if wanted := [document for document in dict.fromkeys(best) if not judged(grades, document)]:
            found[query] = wanted
    return found


def judge_documents(query: str, text: str, documents: dict[str, str], ask: Ask, settings: Settings) -> list[Judgement]:
    """The model's judgement of each document (id -> text) of a query."""
    judgements = []
    for document, passage in documents.items():
        request, answer = ask(request_of(messages(text, passage, settings.max_words), settings))
        judgements.append(Judgement(query, document, request, answer, grade_of(answer.text)))
    return judgements


def as_qrels(judgements: Sequence[Judgement], known: Qrels, relevant_from: int) -> Qrels:
    """The known judgements and those of the model with a grade."""
    qrels = {query: dict(grades) for query, grades in known.items()}
    for one in judgements:
        if one.grade is not None:
            grade = one.grade if one.grade >= relevant_from else 0
            qrels.setdefault(one.query, {})[one.document] = grade
    return qrels


def counts_of(qrels: Qrels, split: str) -> JsonObject:
    """The counts of the judgements, as for a dataset."""
    grades = [grade for documents in qrels.values() for grade in documents.values()]
    without = sum(not any(grade > 0 for grade in documents.values()) for documents in qrels.values())
    counts = {"queries": len(qrels), "judgements": len(grades), "relevant": sum(grade > 0 for grade in grades)}
    return {"splits": {split: {**counts, "queries_without_relevant": without, "carved": False}}}


def write_answers(path: Path, judgements: Sequence[Judgement]) -> None:
    """Write one JSON object per answer, also for those without a grade."""
    with atomic_text(path) as file:
        for one in judgements:
            tokens = {"prompt_tokens": one.answer.prompt_tokens, "completion_tokens": one.answer.completion_tokens}
            record = {**one._asdict(), "answer": one.answer.text, **tokens}
            file.write(json.dumps(record) + "\n")


def judge(
    corpus: Path, queries: Path, runs: list[Path], known: list[Path],
    qrels: list[Path], statistics: Path, answers: Path, timing: Path, settings: Settings,
) -> None:  # fmt: skip
    """Judge the top documents of several runs with a language model behind an endpoint of OpenAI's protocol."""
    model = Chat(settings, Path(f"{answers}.resume"))
    text_of = passages_of(queries)
    human = read_qrels(known[0]) if known else {}
    wanted = pool(runs, list(text_of), settings.depth, human)
    texts = read_documents(corpus, wanted, runs[0])
    progress = Progress("judged", len(wanted), "query")

    def judge_query(query: str) -> list[Judgement]:
        documents = {name: " ".join(texts[name]) for name in wanted[query]}
        return judge_documents(query, " ".join(text_of[query]), documents, model.ask, settings)

    judgements: list[Judgement] = []
    for of_query in model.endpoint.side_by_side(judge_query, list(wanted), settings.concurrency):
        judgements += of_query
        progress.add()
    judged = as_qrels(judgements, human, settings.relevant_from)
    unreadable = sum(one.grade is None for one in judgements)
    if not judged:
        raise UserError(f"{settings.url}: none of the {len(judgements)} answers of {settings.model} contains a grade")
    for path in qrels:
        write_qrels(path, judged if path.stem == settings.split else {})
    write_json(statistics, counts_of(judged, settings.split), indent=2)
    write_answers(answers, judgements)
    sent = model.sent(len(judgements))
    asked = f"{sent['cached_calls']} of them kept from before, {sent['retries_made']} further attempts"
    print(f"{len(judgements)} documents judged ({asked}); {unreadable} answers hold no grade", file=sys.stderr)
    write_timing(
        timing,
        queries=len(wanted),
        documents=len(judgements),
        seconds=sum(one.answer.seconds for one in judgements),
        unreadable=unreadable,
        grades=dict(Counter(str(one.grade) for one in judgements if one.grade is not None)),
        **sent,
        **costs([one.answer for one in judgements], settings.price),
        **reported_settings(settings),
    )


if __name__ == "__main__":
    job(judge)
