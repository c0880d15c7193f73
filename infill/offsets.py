"""Code points and bytes of UTF-8: offsets from one to the other, for any text."""

from bisect import bisect_right
from functools import cached_property

_STEP = 2048  # code points between two entries of the table


class Offsets:
    """Converts offsets of one text; a text of ASCII costs nothing."""

    def __init__(self, text: str, data: bytes) -> None:
        """Take a text and the same in UTF-8."""
        self.text, self.data = text, data
        self.is_ascii = len(text) == len(data)

    def to_byte(self, offset: int) -> int:
        """Convert a code point offset to a byte offset."""
        if self.is_ascii:
            return offset
        slot = min(offset // _STEP, len(self._table) - 1)
        return self._table[slot] + len(encode(self.text[slot * _STEP : offset]))

    def to_offset(self, byte: int) -> int:
        """Convert a byte offset to a code point offset."""
        if self.is_ascii:
            return byte
        slot = bisect_right(self._table, byte) - 1
        part = self.data[self._table[slot] : byte]
        return slot * _STEP + len(part.decode("utf-8", "surrogatepass"))

    @cached_property
    def _table(self) -> list[int]:
        table, byte = [0], 0
        for offset in range(0, len(self.text) - _STEP, _STEP):
            byte += len(encode(self.text[offset : offset + _STEP]))
            table.append(byte)
        return table


def encode(text: str) -> bytes:
    """Return a text in UTF-8; lone surrogates, which JSON can bring, stay."""
    return text.encode("utf-8", "surrogatepass")
