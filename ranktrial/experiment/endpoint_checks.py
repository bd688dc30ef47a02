"""Checks of endpoints: their address and the variable that contains the key; no message repeats a secret."""

from __future__ import annotations

import re

from ranktrial.common.keys import given
from ranktrial.common.services import service
from ranktrial.experiment.checker import Checker
from ranktrial.models.adapters import writes
from ranktrial.models.chat_keys import ChatEndpoint
from ranktrial.models.endpoint_keys import Service, variable_of
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
