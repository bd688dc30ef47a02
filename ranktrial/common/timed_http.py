"""HTTP requests whose deadline holds for the whole exchange; reads and writes no files.

The timeout of urllib is that of each wait on the socket. A server that sends one byte at a time, of a header, of a
`100 Continue`, of a chunk's size or of a trailer, would hold a request for ever. Here each wait on the socket has the
time that is left. Only the system's look-up of a host name has time limits of its own.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
import urllib.request
from functools import partial
from typing import Any

PART = 1 << 16  # bytes that are sent at once


class Deadline:
    """The moment at which an exchange must have ended."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def hold(self, connection: socket.socket) -> None:
        """Let the next wait on the connection end in time. Raises TimeoutError if no time is left."""
        connection.settimeout(self.left())

    def left(self) -> float:
        """The seconds that are left. Raises TimeoutError if there are none."""
        if (seconds := self.end - time.monotonic()) <= 0:
            raise TimeoutError("timed out")
        return seconds


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        return None


class _Incoming(io.RawIOBase):
    """The bytes that a connection receives, each awaited until the deadline."""

    def __init__(self, raw: io.RawIOBase, connection: socket.socket, deadline: Deadline) -> None:
        self.raw, self.connection, self.deadline = raw, connection, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self.deadline.hold(self.connection)
        count: int | None = self.raw.readinto(buffer)
        self.deadline.hold(self.connection)  # a handshake may follow the answer of a proxy
        return count

    def close(self) -> None:
        self.raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *arguments: Any, deadline: Deadline, **keywords: Any) -> None:
        super().__init__(sock, *arguments, **keywords)
        self.fp: Any = io.BufferedReader(_Incoming(self.fp.detach(), sock, deadline))  # type: ignore[has-type]


class _Timed:
    """What makes a connection of http.client keep a deadline."""

    sock: socket.socket | None

    def __init__(self, *arguments: Any, deadline: Deadline, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.deadline = deadline
        self.response_class = partial(_Response, deadline=deadline)
        self._create_connection = self._dial

    def _dial(self, address: tuple[str, int], *_: Any) -> socket.socket:
        """A connection to the first address of a host that accepts one; each attempt has the time that is left."""
        failed: OSError | None = None
        for family, kind, protocol, _name, place in socket.getaddrinfo(*address, 0, socket.SOCK_STREAM):
            made = socket.socket(family, kind, protocol)
            try:
                self.deadline.hold(made)
                made.connect(place)
                return made
            except OSError as error:
                made.close()
                failed = error
        raise failed or OSError("the host has no address")

    def send(self, data: bytes) -> None:
        if self.sock is None:
            self.connect()  # type: ignore[attr-defined]
        assert self.sock
        rest = memoryview(data)
        while rest:
            self.deadline.hold(self.sock)
            rest = rest[self.sock.send(rest[:PART]) :]


class _Connection(_Timed, http.client.HTTPConnection):
    pass


class _SecureConnection(_Timed, http.client.HTTPSConnection):
    pass


class _Handler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Opens http and https addresses with connections that keep a deadline."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self.deadline = deadline

    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_Connection, request, deadline=self.deadline)

    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_SecureConnection, request, deadline=self.deadline)


def opened(request: urllib.request.Request, deadline: Deadline) -> Any:
    """The response to a request, as of urllib's urlopen; reading it keeps the deadline too. Redirects are errors.

    Raises what urlopen raises, and TimeoutError at the deadline.
    """
    opener = urllib.request.build_opener(_NoRedirect, _Handler(deadline))
    return opener.open(request, timeout=deadline.left())
