"""The front matter of a README from outside: YAML between two lines of `---` at its beginning, as the hub's cards have.

It may hold anything, such as dates, numbers beyond 64 bits or thousands of results, and only some keys are of interest.
So only null, true and false are no texts, and the limits of strict_yaml on size, nesting and expanded aliases hold for
the wanted key. Reads one file, and writes nothing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from ranktrial.common.errors import UserError
from ranktrial.common.reading import open_regular
from ranktrial.common.strict_yaml import LARGEST_FILE, Shallow, measure

_BEGINNING = r"\s*---[ \t]*(?:\r\n|\r|\n)"
_HEAD = re.compile(rf"{_BEGINNING}(.*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\r|\n|$)", re.DOTALL)


class _Reader(Shallow, yaml.SafeLoader):
    pass


def front_matter(readme: Path, key: str, longest: int = LARGEST_FILE) -> Any:
    """What a README's front matter has under a key: a text, or lists and mappings of texts; None if it has nothing.

    Raises UserError if it is damaged or exceeds the limits, or does not end within the `longest` bytes.
    """
    with open_regular(readme) as file:
        content = file.read(longest)
    text = content.decode("utf-8-sig", errors="replace")
    head = _HEAD.match(text)
    if not head:
        if len(content) == longest and re.match(_BEGINNING, text):
            raise UserError(f"{readme}: its front matter has more than {longest >> 10:,} kB")
        return None
    try:
        reader = _Reader("\n" * text.count("\n", 0, head.start(1)) + head[1])  # so that the lines are the file's
        reader.name = str(readme)
        node = reader.get_single_node()
    except yaml.YAMLError as error:
        raise UserError(f"{readme}: its front matter is not YAML: {' '.join(str(error).split())[:200]}") from None
    if node is None:
        return None
    if not isinstance(node, yaml.MappingNode):
        raise UserError(f"{readme}: its front matter is not a mapping (key: value)")
    found = [value for name, value in node.value if name.value == key]
    if not found:
        return None
    measure(found[-1], lambda node: None)
    return _value(found[-1])


def _value(node: yaml.Node) -> Any:
    """The value of a node of bounded size; a key that is a list or mapping, and its value, are left out."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: _value(value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}
    if isinstance(node, yaml.SequenceNode):
        return [_value(part) for part in node.value]
    if node.tag == "tag:yaml.org,2002:null":
        return None
    if node.tag == "tag:yaml.org,2002:bool":
        return node.value.lower() in ("true", "yes", "on")
    return str(node.value)
