"""Runs notebooks in a temporary folder and compares what their cells print with what they show (make notebooks).

Needs nbclient alone. `--write` stores what was printed; figures are stored, but not compared.
"""

import argparse
import difflib
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


def texts(cell: Any) -> str:
    """What a cell prints, in however many pieces it comes, and the text of its value."""
    shown = [
        output.text if output.output_type == "stream" else f"{output.data['text/plain']}\n" for output in cell.outputs
    ]
    return "".join(shown)


def executed(path: Path) -> Any:
    """The notebook with the outputs of a run. Raises CellExecutionError, with the cell and the exception."""
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(book, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    for cell in book.cells:
        cell.metadata = {}  # with the times of the run
    return book


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="store what the cells print")
    options = parser.parse_args()
    differ = []
    for path in options.notebooks:
        before, after = nbformat.read(path, as_version=4), executed(path)
        pairs = [(old, new) for old, new in zip(before.cells, after.cells, strict=True) if new.cell_type == "code"]
        for old, new in pairs:
            differ += difflib.unified_diff(
                texts(old).splitlines(), texts(new).splitlines(), str(path), "now", lineterm=""
            )
        if options.write:
            nbformat.write(after, path)
        print(f"{path}: {len(pairs)} cells ran")
    if differ and not options.write:
        sys.exit("\n".join([*differ, "make notebooks WRITE=1 stores what the cells print now"]))


if __name__ == "__main__":
    main()
