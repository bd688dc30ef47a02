"""Re-rank a first stage's run with a language model behind an endpoint of OpenAI's protocol, window by window.

Reads the corpus, queries and a run, and lets the endpoint order windows of the run's first `depth` documents per query,
from the last window to the first. Writes a TREC run (the score is the place counted from the end), all answers (JSON
lines, gzip) and the timing. The folder beside the run, `.resume`, caches each answer: the same command later only
requests what is missing. Seconds are the sum over all answers, whenever they arrived.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text
from ranktrial.common.keys import JsonObject
from ranktrial.common.progress import Progress
from ranktrial.common.timing import latency, write_timing
from ranktrial.inference.candidates import candidates, read_documents
from ranktrial.inference.chats import Ask, Chat, costs, reported_settings, request_of
from ranktrial.inference.permutations import Order, messages, order, windows
from ranktrial.ir.collection import passages_of
from ranktrial.ir.trec import read_run, write_run
from ranktrial.models.chat_settings import WindowSettings
from ranktrial.models.endpoint import Answer
from ranktrial.models.endpoint_keys import Price


@dataclass(frozen=True, kw_only=True)
class Settings(WindowSettings):
    depth: Annotated[int, "documents per query, the first stage's best, that are ordered and kept"]
    tag: Annotated[str, "name of the run, its last column"]


class Call(NamedTuple):
    """One window: its pass, its documents as shown, the request, the answer and the order read from it."""

    round: int
    documents: list[str]
    request: str
    answer: Answer
    meaning: Order


def ordered(query: str, documents: dict[str, str], ask: Ask, settings: Settings) -> tuple[list[str], list[Call]]:
    """The documents (id -> text, in the first stage's order) in the model's order, and the calls."""
    names, calls = list(documents), []
    for number in range(1, settings.passes + 1):
        for start, end in windows(len(names), settings.window, settings.step):
            shown = names[start:end]
            asked = messages(query, [documents[name] for name in shown], settings.max_words)
            request, answer = ask(request_of(asked, settings))
            meaning = order(answer.text, len(shown))
            names[start:end] = [shown[place] for place in meaning.places]
            calls.append(Call(number, shown, request, answer, meaning))
    return names, calls


def write_answers(path: Path, calls: dict[str, list[Call]]) -> None:
    """Write one JSON object per call: the documents shown, the answer, and the order (from 1) read from it."""
    with atomic_text(path) as file:
        for query, of_query in calls.items():
            for call in of_query:
                record = {
                    **{"query": query, "pass": call.round, "documents": call.documents, "request": call.request},
                    **{"answer": call.answer.text, "order": [place + 1 for place in call.meaning.places]},
                    "prompt_tokens": call.answer.prompt_tokens,
                    "completion_tokens": call.answer.completion_tokens,
                }
                file.write(json.dumps(record) + "\n")


def counted(calls: list[Call], price: Price | None) -> JsonObject:
    """The cost of the answers, if known, and the number of answers without an order."""
    return {
        **costs([call.answer for call in calls], price),
        "unparseable": sum(not call.meaning.understood for call in calls),
        "repaired": sum(call.meaning.repaired for call in calls),
    }


def rerank_listwise(
    corpus: Path, queries: Path, first_stage: Path, run: Path, timing: Path, answers: Path, settings: Settings
) -> None:  # fmt: skip
    """Re-rank a first stage's run with a language model behind an endpoint of OpenAI's protocol, window by window."""
    model = Chat(settings, Path(f"{run}.resume"))
    text_of = passages_of(queries)
    wanted = candidates(read_run(first_stage), text_of, settings.depth)
    if not wanted:
        raise UserError(f"{first_stage}: no query of {queries} in it; it belongs to another task")
    texts = read_documents(corpus, wanted, first_stage)

    def rank(query: str) -> tuple[list[str], list[Call]]:
        documents = {name: " ".join(texts[name]) for name in wanted[query]}
        return ordered(" ".join(text_of[query]), documents, model.ask, settings)

    outcomes, progress = {}, Progress("re-ranked", len(wanted), "query")
    for query, outcome in zip(
        wanted, model.endpoint.side_by_side(rank, list(wanted), settings.concurrency), strict=True
    ):
        outcomes[query] = outcome
        progress.add()
    ranked = {
        query: {document: float(len(documents) - place) for place, document in enumerate(documents)}
        for query, (documents, _) in outcomes.items()
    }
    calls = {query: of_query for query, (_, of_query) in outcomes.items()}
    every = [call for of_query in calls.values() for call in of_query]
    write_run(run, ranked, settings.tag)
    write_answers(answers, calls)
    singles = [sum(call.answer.seconds for call in of_query) for of_query in calls.values()]
    seconds, facts = sum(singles), counted(every, settings.price)
    odd = f"{facts['unparseable']} of them without an order and {facts['repaired']} with one that was repaired"
    sent = model.sent(len(every))
    asked = f"{sent['cached_calls']} of them kept from before, {sent['retries_made']} further attempts"
    print(f"{len(ranked)} of {len(text_of)} queries re-ranked, {len(every)} answers: {asked}, {odd}", file=sys.stderr)
    write_timing(
        timing,
        queries=len(ranked),
        documents=sum(map(len, ranked.values())),
        seconds=seconds,
        queries_per_second=len(ranked) / seconds if seconds else None,
        latency_ms=latency(singles),
        device=f"{settings.model} at {model.endpoint.url.host}",
        **sent,
        **facts,
        **reported_settings(settings),
    )


if __name__ == "__main__":
    job(rerank_listwise)
