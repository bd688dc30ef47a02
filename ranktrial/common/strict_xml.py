"""A strict reader of small XML files from users: elements and their text, without any other feature of XML.

It refuses a document type declaration (so there are no entities except XML's own five, and no other file is read), deep
nesting, oversized files and XML that is not well-formed. Attributes, comments and processing instructions are ignored.
See the attacks listed in the security notes of Python's xml module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ranktrial.common.errors import UserError
from ranktrial.common.reading import DAMAGE, damaged, open_bytes

LARGEST_FILE = 4 << 20  # bytes, unpacked; a topics file has a hundredth of it
DEEPEST = 20  # nested elements


@dataclass
class Element:
    """An element, the line in which it begins, and its content in order: text and other elements."""

    tag: str
    line: int
    parts: list[str | Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its whole text, including that of inner elements, with single spaces."""
        return " ".join("".join(self._texts()).split())

    @property
    def children(self) -> list[Element]:
        """Its child elements."""
        return [part for part in self.parts if isinstance(part, Element)]

    def _texts(self) -> Iterator[str]:
        for part in self.parts:
            if isinstance(part, Element):
                yield from part._texts()
            else:
                yield part


def read_xml(path: Path) -> Element:
    """The root element of an XML file, plain, gzip or zstd. Raises UserError, with the line, for what is refused."""
    try:
        with open_bytes(path) as file:
            content = file.read(LARGEST_FILE + 1)
    except DAMAGE as error:
        raise damaged(path, error) from None
    if len(content) > LARGEST_FILE:
        raise UserError(f"{path}: is larger than {LARGEST_FILE >> 20} MB, so hardly a file of topics")
    return _parsed(content, path)


def _parsed(content: bytes, path: Path) -> Element:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    outside = Element("", 0)
    open_elements = [outside]

    def refuse_doctype(*_: object) -> None:
        problem = "a document type (<!DOCTYPE) could bring entities and outside files, which are not read; remove it"
        raise UserError(f"{path}:{parser.CurrentLineNumber}: {problem}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, parser.CurrentLineNumber)
        if len(open_elements) > DEEPEST:
            raise UserError(f"{path}:{element.line}: more than {DEEPEST} elements inside one another")
        open_elements[-1].parts.append(element)
        open_elements.append(element)

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.CharacterDataHandler = lambda text: open_elements[-1].parts.append(text)
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise UserError(f"{path}:{error.lineno}: not XML: {expat.errors.messages[error.code]}") from None
    except (ValueError, LookupError) as error:  # an encoding that Python or expat does not support
        raise UserError(f"{path}:1: not XML: {error}") from None
    return outside.children[0]
