"""Links of pages to files outside docs/ lead to copies of these files in the site.

Reads the pages and the files that they link to, writes site/source/. A page on disk and on the site then has one text.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
linked: set[str] = set()


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page's text with each link that leaves docs/ turned towards the copy."""
    up = "../" * page.file.src_uri.count("/")
    outside = re.compile(rf"\]\({up}\.\./(?!\.\./)([^)#]+)(#[^)]*)?\)")
    linked.update(path for path, _ in outside.findall(markdown))
    return outside.sub(lambda match: f"]({up}source/{match[1]})", markdown)


def on_post_build(config: Any, **_: Any) -> None:
    """Copy what was linked to."""
    for path in sorted(linked):
        copy = Path(config["site_dir"]) / "source" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy)
