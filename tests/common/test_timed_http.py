"""A deadline holds for a whole exchange, whatever the server drips; an exchange in time is that of urllib."""

import datetime
import ipaddress
import socket
import ssl
import time
import urllib.error
import urllib.request

import pytest

from ranktrial.common.timed_http import Deadline, opened
from tests.support.dripping import CHUNKED, DRIPS, HEAD, dripping, serving

TIMEOUT = 0.4
LATE = 0.6  # seconds after its deadline by which an exchange has ended, also on a busy machine


def fetch(url, body=None, timeout=TIMEOUT):
    """The whole exchange, as an endpoint has it: the body of an answer or of an error."""
    try:
        with opened(urllib.request.Request(url, body), Deadline(timeout)) as response:
            return response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.read()


def ends_in_time(url, body=None, timeout=TIMEOUT):
    start = time.monotonic()
    with pytest.raises(OSError) as reported:
        fetch(url, body, timeout)
    assert isinstance(getattr(reported.value, "reason", reported.value), TimeoutError), reported.value
    assert timeout * 0.9 <= time.monotonic() - start < timeout + LATE


@pytest.mark.parametrize("drip", DRIPS)
def test_whatever_drips_ends_at_the_deadline(drip):
    with serving(dripping(*DRIPS[drip])) as port:
        ends_in_time(f"http://127.0.0.1:{port}/", b"{}")


def test_a_server_that_reads_a_byte_at_a_time_ends_at_the_deadline():
    def sipping(connection, over):
        while not over.wait(0.02) and connection.recv(1):
            pass

    with serving(sipping) as port:
        ends_in_time(f"http://127.0.0.1:{port}/", b"x" * (32 << 20))


def test_a_handshake_that_drips_ends_at_the_deadline():
    record = b"\x16\x03\x03\x40\x00"  # a TLS record of 16 kB, whose content never comes whole
    with serving(dripping(record, b"a")) as port:
        ends_in_time(f"https://127.0.0.1:{port}/")


def test_a_proxy_that_drips_ends_at_the_deadline(monkeypatch):
    with serving(dripping(b"HTTP/1.1 200 OK\r\nX-A: ", b"a")) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        ends_in_time("https://example.invalid/")


def test_a_handshake_after_a_slow_proxy_has_the_time_that_is_left(monkeypatch):
    def converse(connection, over):
        connection.recv(65536)
        over.wait(1.0)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        over.wait(30)

    with serving(converse) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        ends_in_time("https://example.invalid/", timeout=1.2)


def test_all_addresses_of_a_host_share_one_deadline(monkeypatch):
    """Five addresses where nothing answers: sockets whose queue is full."""
    full = [socket.create_server(("127.0.0.1", 0), backlog=0) for _ in range(5)]
    places = [one.getsockname() for one in full]
    waiting = []
    for place in places:
        for _ in range(2):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(place)
            waiting.append(filler)
    time.sleep(0.05)
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in places]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: found)
    ends_in_time("http://host.invalid/")
    for one in [*full, *waiting]:
        one.close()


def test_a_dead_address_leaves_the_next_one(monkeypatch):
    dead = socket.create_server(("127.0.0.1", 0))
    place = dead.getsockname()
    dead.close()
    with serving(lambda connection, over: connection.sendall(HEAD + b"Content-Length: 2\r\n\r\nhi")) as port:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", one) for one in (place, ("127.0.0.1", port))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_: found)
        assert fetch("http://host.invalid/", timeout=10) == b"hi"


def certificate(folder):
    """A key and a certificate for 127.0.0.1 that this process makes itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now - day, now + day)
    made = made.add_extension(alternative, False).add_extension(x509.BasicConstraints(True, None), True)
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "both.pem"
    file.write_bytes(private + made.sign(key, hashes.SHA256()).public_bytes(pem))
    return file


@pytest.mark.parametrize("secure", [False, True])
def test_an_exchange_in_time_is_that_of_urllib(secure, tmp_path, monkeypatch):
    body = bytes(range(256)) * 40_000  # 10 MB, so several records and several sends

    def converse(connection, over):
        received = bytearray()
        while len(received.partition(b"\r\n\r\n")[2]) < len(body):
            received += connection.recv(1 << 20)
        assert received.endswith(body)
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED)
        for start in range(0, len(body), 100_000):
            part = body[start : start + 100_000]
            connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        connection.sendall(b"0\r\nX-A: b\r\n\r\n")

    context = None
    if secure:
        file = certificate(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
    with serving(converse, context) as port:
        assert fetch(f"http{'s' * secure}://127.0.0.1:{port}/", body, timeout=60) == body


def test_no_time_is_none():
    with pytest.raises(TimeoutError):
        Deadline(0).left()
