"""Reads zstd as a stream: frames one after another, of which a cut or changed one is an error and never the end.

pyarrow unpacks. A frame says how much of its text memory has to hold (its window); of more than 128 MB it is refused.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import BinaryIO

from scripts.common.errors import UserError

# A frame, or one to be skipped, with which pzstd begins.
BEGINS = (b"\x28\xb5\x2f\xfd", *(bytes([kind]) + b"\x2a\x4d\x18" for kind in range(0x50, 0x60)))
BUFFER = 1 << 17  # bytes
_REFUSED = {  # what libzstd says -> what is to be done
    "too much memory": "needs a window of more than 128 MB; pack it again without --long",
    "Dictionary mismatch": "was packed with a dictionary; pack it again without",
}


class ZstdError(Exception):
    """A zstd file that is damaged, cut off, or has something else behind its frames."""


class ZstdReader(io.RawIOBase):
    """The unpacked bytes of an open file, which it closes. Seeking back begins anew."""

    def __init__(self, path: Path, packed: BinaryIO) -> None:
        self.path, self.packed, self.place = path, packed, 0
        self._begin()

    def _begin(self) -> None:
        import pyarrow  # takes longer than a small file

        own = os.fdopen(os.dup(self.packed.fileno()), "rb")  # pyarrow closes what it was given
        own.seek(0)
        self._stream, self.place = pyarrow.CompressedInputStream(pyarrow.PythonFile(own, "r"), "zstd"), 0

    def readinto(self, buffer) -> int:
        try:
            size = self._stream.readinto(buffer)
        except OSError as error:
            if error.errno is not None:  # the disk's
                raise
            why = next((why for words, why in _REFUSED.items() if words in str(error)), None)
            if why:
                raise UserError(f"{self.path}: refused, it {why}") from None
            raise ZstdError(str(error).removeprefix("ZSTD decompress failed: ")) from None
        self.place += size
        return size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        target = place + (self.place if whence == io.SEEK_CUR else 0)
        if whence == io.SEEK_END or target < 0:
            raise io.UnsupportedOperation("a packed file has no known end")
        if target < self.place:
            self._stream.close()
            self._begin()
        while self.place < target and self.read(min(BUFFER, target - self.place)):
            pass
        return self.place

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self.packed.close()
        super().close()
