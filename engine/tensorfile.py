"""The safetensors file format: reading the header, checking the size, writing.

A header of JSON says where each tensor lies; the tensors follow as plain bytes, so
the file can be mapped into memory as it is (github.com/huggingface/safetensors).
NumPy alone is enough here: weights are converted without importing torch.
"""

import hashlib
import json
import math
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from niello.infill.errors import ModelError

Floats = npt.NDArray[np.float32]

_WIDTHS = {
    "F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2,
    "I16": 2, "U16": 2, "I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1,
}  # fmt: skip
_LONGEST_HEADER = 100_000_000
_CHUNK_VALUES = 8 * 1024 * 1024


class Entry(NamedTuple):
    """Where a tensor lies in its file; the bounds count from the file's start."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


class Planned(NamedTuple):
    """A tensor to be written; `rows(start, stop)` computes a run of its rows."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    rows: Callable[[int, int], Floats]

    @property
    def n_bytes(self) -> int:
        """The bytes this tensor takes in the file."""
        return math.prod(self.shape) * _WIDTHS[self.dtype]


def check_safetensors(path: Path) -> None:
    """Refuse a file that is shorter or longer than its own header promises."""
    read_header(path)


def read_header(path: Path) -> dict[str, Entry]:
    """Return the tensors of a file by name, after checking that all are there."""
    found = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if found < 8 or length > _LONGEST_HEADER:
            raise ModelError(f"{path} ({found} bytes) is no safetensors file")
        needed = 8 + length
        if found < needed:
            raise _wrong_size(path, found, needed)
        header = file.read(length)
    try:
        entries = _entries(json.loads(header), needed)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} has a damaged header: {error}") from None
    needed = max([needed, *(entry.end for entry in entries.values())])
    if found != needed:
        raise _wrong_size(path, found, needed)
    return entries


def read_tensor(path: Path, entry: Entry) -> Floats:
    """Return one float32 or bfloat16 tensor as float32."""
    raw = np.dtype("<u2") if entry.dtype == "BF16" else np.dtype("<f4")
    count = (entry.end - entry.start) // raw.itemsize
    values = np.fromfile(path, raw, count, offset=entry.start)
    if entry.dtype == "BF16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values.reshape(entry.shape).astype(np.float32, copy=False)


def write_tensors(
    path: Path, tensors: Sequence[Planned], written: Callable[[int], None]
) -> str:
    """Write tensors a few rows at a time and return the file's SHA-256 digest.

    `written` is told the bytes of tensors so far.
    """
    header = _header(tensors)
    digest = hashlib.sha256(header)
    n_written = 0
    with path.open("wb") as file:
        file.write(header)
        for part in _parts(tensors):
            file.write(part)
            digest.update(part)
            n_written += len(part)
            written(n_written)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _parts(tensors: Sequence[Planned]) -> Iterator[bytes]:
    for tensor in tensors:
        n_rows = tensor.shape[0]
        step = max(1, _CHUNK_VALUES // math.prod(tensor.shape[1:]))
        for start in range(0, n_rows, step):
            rows = tensor.rows(start, min(start + step, n_rows))
            if tensor.dtype == "BF16":
                yield _bfloat16(rows).tobytes()
            else:
                yield rows.astype("<f4", copy=False).tobytes()


def _header(tensors: Sequence[Planned]) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for tensor in tensors:
        end = offset + tensor.n_bytes
        header[tensor.name] = {
            "dtype": tensor.dtype,
            "shape": tensor.shape,
            "data_offsets": (offset, end),
        }
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    # The data begins at a multiple of 64 bytes, so that mapped tensors are aligned.
    text += b" " * (-(len(text) + 8) % 64)
    return struct.pack("<Q", len(text)) + text


def _bfloat16(values: Floats) -> npt.NDArray[np.uint16]:
    """Round to the nearest bfloat16, ties to even, as bits."""
    bits = np.ascontiguousarray(values, "<f4").view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def _entries(header: dict[str, dict[str, object]], base: int) -> dict[str, Entry]:
    entries = {}
    for name, fields in header.items():
        if name == "__metadata__":
            continue
        dtype, shape = str(fields["dtype"]), fields["shape"]
        offsets = fields["data_offsets"]
        if not isinstance(shape, list) or not isinstance(offsets, list):
            raise ValueError(f"{name} has no shape")
        start, end = (int(offset) for offset in offsets)
        size = math.prod(int(length) for length in shape) * _WIDTHS.get(dtype, 0)
        if start < 0 or (dtype in _WIDTHS and end - start != size):
            raise ValueError(f"{name} has bytes {start} to {end} for {size}")
        entries[name] = Entry(dtype, tuple(shape), base + start, base + end)
    return entries


def _wrong_size(path: Path, found: int, needed: int) -> ModelError:
    return ModelError(
        f"{path} has {found} bytes, its header needs {needed}: the file is damaged; "
        "fetch it again (niello models pull)"
    )
