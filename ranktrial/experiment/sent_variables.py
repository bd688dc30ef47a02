"""The environment variables that a configuration sends to servers; reads and writes nothing.

A URL names them as ${NAME}, an endpoint by its key (or the default one), and an Elasticsearch server gets its own. So a
stranger's configuration may name any variable of the user's environment, and any server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ranktrial.common import urls
from ranktrial.models.endpoint_keys import KEY

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
