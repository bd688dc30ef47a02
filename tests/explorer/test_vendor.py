"""The libraries of the page are those of their packages, and its files are small."""

import hashlib
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "ranktrial/explorer/page"


def test_libraries_are_as_the_table_names_them():
    rows = re.findall(
        r"^\| (\S+\.js) \| (\S+ [\d.]+), .* \((LICENSE-\w+)\) \| (\w{64}) \|$",
        (PAGE / "vendor/README.md").read_text(),
        re.M,
    )
    assert sorted(name for name, *_ in rows) == sorted(path.name for path in (PAGE / "vendor").glob("*.js"))
    for name, _, licence, sha256 in rows:
        assert hashlib.sha256((PAGE / "vendor" / name).read_bytes()).hexdigest() == sha256
        assert "Permission to use, copy, modify" in (PAGE / "vendor" / licence).read_text()


def test_each_script_is_short_strict_and_named_in_the_page():
    page = (PAGE / "index.html").read_text()
    scripts = list(PAGE.glob("*.js"))
    assert re.findall(r'src="(\w+\.js)"', page) and {path.name for path in scripts} == set(
        re.findall(r'src="(\w+\.js)"', page)
    )
    for path in scripts:
        text = path.read_text()
        assert text.startswith("// ") and '"use strict";' in text and len(text.splitlines()) < 300, path
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), path
