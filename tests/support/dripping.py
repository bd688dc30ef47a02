"""Servers on this machine that never end: each sends the start of an answer at once, and then drops for ever."""

import socket
import threading
from contextlib import contextmanager

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
# What a server sends at once, and what it repeats every 20 ms for ever.
DRIPS = {
    "nothing": (b"", b""),
    "status": (b"HTTP/1.1 ", b"2"),
    "name of a header": (HEAD, b"a"),
    "value of a header": (HEAD + b"X-A: ", b"a"),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "header of 100 Continue": (b"HTTP/1.1 100 Continue\r\nX-A: ", b"a"),
    "body": (HEAD + b"\r\n", b"a"),
    "body of a known length": (HEAD + b"Content-Length: 99999\r\n\r\n", b"a"),
    "size of a chunk": (CHUNKED, b"0"),
    "extension of a chunk": (CHUNKED + b"1;", b"a"),
    "chunk": (CHUNKED + b"fff\r\n", b"a"),
    "chunks": (CHUNKED, b"1\r\na\r\n"),
    "trailer": (CHUNKED + b"0\r\nX-A: ", b"a"),
    "trailers": (CHUNKED + b"0\r\n", b"X: y\r\n"),
    "body of an error": (b"HTTP/1.1 429 Too Many Requests\r\n\r\n", b"a"),
}


@contextmanager
def serving(converse, context=None):
    """The port of a server on this machine; `converse` gets each connection, and whether the test is over."""
    over = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=attend, args=(connection,), daemon=True).start()

    def attend(connection):
        try:
            with context.wrap_socket(connection, server_side=True) if context else connection as talking:
                converse(talking, over)
        except OSError:
            pass  # the client has left

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        over.set()
        listening.close()


def dripping(start, drop, first=65536):
    """A conversation: read the request, send the start, and then a drop every 20 ms."""

    def converse(connection, over):
        connection.recv(first)
        connection.sendall(start)
        while not over.wait(0.02):
            connection.sendall(drop)

    return converse
