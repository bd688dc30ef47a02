"""A language model behind an endpoint that writes queries; one answer is stored per document and draw."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject
from ranktrial.models.endpoint import Answer
from ranktrial.models.endpoint_models import EndpointModel
from ranktrial.models.kept_answers import digest, total

SAMPLING: JsonObject = {"temperature": 1, "max_tokens": 64}


class EndpointWriter(EndpointModel):
    """A writer of queries behind one endpoint; its token count includes tokens sent and tokens written."""

    def write(self, prompt: str, documents: list[str], seed: int) -> list[str]:
        """One query per document; a different seed is a different request, also if it is not sent."""
        requests = [self._chat(prompt.replace("{document}", self._cut(document)), seed) for document in documents]
        names = [digest(self.address.url, {**request, "seed": seed}) for request in requests]
        named = dict(zip(names, requests, strict=True))
        new = {name: request for name, request in named.items() if name not in self.kept}

        def ask(name: str) -> None:
            self.kept.add(name, self.endpoint.ask(new[name]))

        for _ in self.endpoint.side_by_side(ask, list(new), self.address.concurrency):
            pass
        self._fresh += len(new)
        answers = {name: self.kept[name] for name in named}
        self._count({name: _with_all_tokens(answer) for name, answer in answers.items() if name not in self._taken})
        return [answers[name].text for name in names]

    def _chat(self, content: str, seed: int) -> JsonObject:
        messages = [{"role": "user", "content": content}]
        parameters = {"seed": seed, **SAMPLING}
        sent = {name: value for name, value in parameters.items() if name not in self.address.leave_out}
        return {"model": self.address.model, "messages": messages, **sent}


def _with_all_tokens(answer: Answer) -> Answer:
    return answer._replace(prompt_tokens=total([answer.prompt_tokens, answer.completion_tokens]))
