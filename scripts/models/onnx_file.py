"""What an ONNX file says of its own weights, read without the onnx package: their precision, for the timing.

The file is a protocol buffer (https://onnx.ai/onnx/intro/concepts.html, onnx.proto): a model's field 7 is its graph, a
graph's field 5 an initializer (weights), whose fields 1 and 2 are its dimensions and its data type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import prod
from pathlib import Path

GRAPH, INITIALIZER, DIMENSIONS, DATA_TYPE = 7, 5, 1, 2
PRECISIONS = {1: "fp32", 2: "int8", 3: "int8", 10: "fp16", 11: "fp64", 16: "bf16", 17: "fp8", 21: "int4", 22: "int4"}


def varint(data: memoryview, place: int) -> tuple[int, int]:
    """The variable-length integer at a place, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[place]
        value, shift, place = value | (byte & 127) << shift, shift + 7, place + 1
        if byte < 128:
            return value, place


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield (number, value) of a message's fields: whole numbers, and bytes for everything else."""
    place = 0
    while place < len(data):
        key, place = varint(data, place)
        if key & 7 == 0:
            value, place = varint(data, place)
        else:
            size, place = varint(data, place) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], place)
            value, place = data[place : place + size], place + size
        yield key >> 3, value


def dimensions(tensor: list[tuple[int, int | memoryview]]) -> list[int]:
    """A tensor's dimensions, which may be packed into one field."""
    sizes: list[int] = []
    for number, value in tensor:
        if number == DIMENSIONS and isinstance(value, int):
            sizes.append(value)
        elif number == DIMENSIONS:
            place = 0
            while place < len(value):
                size, place = varint(value, place)
                sizes.append(size)
    return sizes


def precision(file: Path) -> str:
    """The data type of most of a model's weights: fp32, fp16, int8 …; `unknown` where it has none in the file."""
    sizes: Counter[str] = Counter()
    for number, graph in fields(memoryview(file.read_bytes())):
        for inner, tensor in fields(graph) if number == GRAPH else ():
            if inner == INITIALIZER:
                parts = list(fields(tensor))
                kind = next((value for part, value in parts if part == DATA_TYPE), 0)
                sizes[PRECISIONS.get(kind, "unknown")] += prod(dimensions(parts))
    return sizes.most_common(1)[0][0] if sizes else "unknown"
