"""Write the files generated from the declarations of keys and plug-ins (`make schema`); tests keep them up to date.

They are the schema for editors, the page of all keys, and the table of formats in docs/writing-an-experiment.md. The
workflow reads none of them: it builds the schema itself.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ranktrial.configuration.dataset_keys import readme_table
from ranktrial.configuration.key_page import editor_schema, key_page
from ranktrial.configuration.schema import schema

ROOT = Path(__file__).parents[2]
EDITORS, PAGE = ROOT / "config/schema.editor.json", ROOT / "docs/configuration.md"
FORMATS_PAGE = ROOT / "docs/writing-an-experiment.md"


def with_table(page: str) -> str:
    """Return the page with the current table of formats."""
    table = readme_table()
    heading = re.escape(table.splitlines()[0])
    return re.sub(rf"^{heading}\n(?:\|.*\n)*", lambda _: f"{table}\n", page, flags=re.MULTILINE)


def files() -> dict[Path, str]:
    """Return path -> content of the generated files."""
    return {
        EDITORS: json.dumps(editor_schema(schema()), ensure_ascii=False) + "\n",
        PAGE: key_page(schema()),
        FORMATS_PAGE: with_table(FORMATS_PAGE.read_text(encoding="utf-8")),
    }


def main() -> None:
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
