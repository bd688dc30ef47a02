"""Write what is made from the declarations of kinds (`make schema`): two schemas and the README's table of formats.

config/schema.yaml is the schema to read, config/schema.editor.json the one for editors. Nothing else reads these two
files; the workflow assembles the schema by itself. Tests keep all three in step.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import yaml

from scripts.experiment.dataset_schema import readme_table
from scripts.experiment.editor_schema import editor_schema
from scripts.experiment.schema import schema

ROOT = Path(__file__).parents[2]
CONFIG, README = ROOT / "config", ROOT / "README.md"
WIDTH = 120
INDENT = 2
HEADING = """\
# JSON schema of an experiment's configuration: every key with its meaning and default; unknown keys are errors.
# Made by `make schema` from scripts/experiment/schema_base.yaml and from what the modules of each kind declare.
"""


class _Layout(yaml.SafeDumper):
    """YAML in the order of the schema, without aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def in_yaml(value: dict[str, Any], depth: int = 0) -> str:
    """A mapping, one key per line; what is short stands on the line of its key, as `{type: string}`."""
    inner = " " * INDENT * (depth + 1)
    lines = []
    for key, part in value.items():
        start = f"{' ' * INDENT * depth}{_scalar(key)}:"
        on_one_line = f"{start} {_scalar(part)}"
        if _short(part) and len(on_one_line) <= WIDTH:
            lines.append(on_one_line)
        elif isinstance(part, dict) and part:
            lines += [start, in_yaml(part, depth + 1)]
        elif isinstance(part, list) and all(isinstance(item, dict) for item in part):
            lines += [start, *(f"{inner}- {_scalar(item)}" for item in part)]
        elif isinstance(part, str):
            lines += [f"{start} >-", *_folded(part, inner)]
        else:
            lines.append(on_one_line)
    return "\n".join(lines)


def _short(part: Any) -> bool:
    """Whether a value may stand on the line of its key: a mapping there has no mapping of keys inside."""
    if isinstance(part, dict):
        return "properties" not in part and "description" not in part and sum(map(_size, part.values())) <= 6
    return True


def _size(part: Any) -> int:
    """The number of single values."""
    if isinstance(part, dict):
        return sum(map(_size, part.values()))
    return sum(map(_size, part)) if isinstance(part, list) else 1


def _scalar(part: Any) -> str:
    """A value on one line, with quotes where YAML needs them."""
    text = yaml.dump(part, Dumper=_Layout, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    return text.removesuffix("\n").removesuffix("\n...")


def _folded(text: str, indent: str) -> list[str]:
    """A long text on several lines, which YAML joins with spaces."""
    whole_words = textwrap.TextWrapper(WIDTH, indent, indent, break_long_words=False, break_on_hyphens=False)
    return whole_words.wrap(text)


def with_table(readme: str) -> str:
    """The README with the table of formats as the formats declare it now."""
    table = readme_table()
    heading = re.escape(table.splitlines()[0])
    return re.sub(rf"^{heading}\n(?:\|.*\n)*", lambda _: f"{table}\n", readme, flags=re.MULTILINE)


def files() -> dict[Path, str]:
    """The files with what belongs into them."""
    whole = schema()
    return {
        CONFIG / "schema.yaml": f"{HEADING}{in_yaml(whole)}\n",
        CONFIG / "schema.editor.json": json.dumps(editor_schema(whole), indent=1, ensure_ascii=False) + "\n",
        README: with_table(README.read_text(encoding="utf-8")),
    }


def main() -> None:
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
