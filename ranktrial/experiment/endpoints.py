"""Endpoints: checks of their address and of the variable that contains the key; no message repeats a secret.

A configuration sends environment variables to servers: a URL names them as ${NAME}, an endpoint by its key (or the
default one), and an Elasticsearch server gets its own. So a stranger's configuration may name any variable of the
user's environment, and any server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ranktrial.common import urls
from ranktrial.common.keys import given
from ranktrial.common.urls import service
from ranktrial.configuration.checker import Checker
from ranktrial.models.adapters import writes
from ranktrial.models.endpoint_keys import KEY, ChatEndpoint, Service, variable_of
from ranktrial.models.model_keys import Model

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
OF_WEIGHTS = ("sha256", "revision", "max_length", "file")  # keys that a model without local weights does not have


def check_service(check: Checker, place: str, endpoint: Service) -> None:
    """Raise UserError for a refused address, or a key that is not the name of a variable."""
    try:
        service(endpoint.url)
    except ValueError as error:
        raise check.fail(f"{place}.url", f"this URL {error}") from None
    variable = variable_of(endpoint)
    if variable is not None and not _VARIABLE.fullmatch(variable):
        problem = "expected the name of an environment variable in capitals, such as OPENAI_API_KEY, never the key"
        raise check.fail(f"{place}.key", problem)


def check_chat(check: Checker, place: str, endpoint: ChatEndpoint) -> None:
    """Raise UserError for a refused address or variable, or for a parameter that is both given and left out."""
    check_service(check, place, endpoint)
    for name in endpoint.leave_out or ():
        if getattr(endpoint, name) is not None:
            raise check.fail(f"{place}.leave_out", f"{name} is given beside it; leave out one of both")


def check_endpoint(check: Checker, name: str, model: Model) -> None:
    """Raise UserError unless a model behind an endpoint names the endpoint and has no keys about weights."""
    place = f"models.{name}"
    endpoint = getattr(model, "endpoint", None)
    if endpoint is None:
        raise check.fail(f"{place}.endpoint", f"is needed for a {model.type}: where it is asked")
    check_service(check, f"{place}.endpoint", endpoint)
    if endpoint.leave_out is not None and not writes(model.type):
        raise check.fail(f"{place}.endpoint.leave_out", f"a {model.type} sends none of them; leave it out")
    if not_its := [key for key in OF_WEIGHTS if key in given(model)]:
        raise check.fail(f"{place}.{not_its[0]}", f"a {model.type} takes none: its weights are the endpoint's")


OF_ELASTICSEARCH = ("ELASTICSEARCH_API_KEY", "ELASTICSEARCH_USERNAME", "ELASTICSEARCH_PASSWORD")


class Sent(NamedTuple):
    """A variable, the host that gets it, the key of the configuration, and whether fetching data sends it."""

    variable: str
    host: str
    key: str
    fetching: bool

    def __str__(self) -> str:
        return f"{self.variable} to {self.host} ({self.key})"


def sent_variables(config: Any, key: str = "") -> Iterator[Sent]:
    """Yield the variables that the values of a configuration, which has been checked, send."""
    if isinstance(config, str):
        for variable in urls.references(config):
            yield Sent(variable, urls.parse(config).host, key, True)
    elif isinstance(config, list):
        for value in config:
            yield from sent_variables(value, key)
    elif isinstance(config, dict):
        if isinstance(url := config.get("url"), str):
            yield from (Sent(variable, urls.parse(url).host, f"{key}.url", False) for variable in _of_service(config))
        for name, value in config.items():
            yield from sent_variables(value, f"{key}.{name}" if key else name)


def _of_service(entry: dict[str, Any]) -> tuple[str, ...]:
    """The variables that are sent to the service of an entry."""
    if entry.get("engine") == "elasticsearch":
        return OF_ELASTICSEARCH
    if named := entry.get("key"):
        return (str(named),)
    secure = str(entry["url"]).lower().startswith("https:") and entry.get("protocol", "openai") == "openai"
    return (KEY,) if secure else ()
