"""Addresses of services that answer requests, such as a language model's endpoint: checked in one place."""

from __future__ import annotations

from ranktrial.common import urls


def service(text: str) -> urls.Url:
    """The base address of requests. Raises ValueError, with the reason, if it is refused."""
    made = urls.parse(text)
    if made.user or made.query or urls.references(text):
        raise ValueError("contains a user, a query or ${NAME}; a key is taken from the environment alone")
    if not text.isascii():
        raise ValueError("contains a character outside of ASCII; percent-encode it")
    return made
