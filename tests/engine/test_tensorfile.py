import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

from niello.engine.tensorfile import (
    Planned,
    check_safetensors,
    read_header,
    read_tensor,
    write_tensors,
)
from niello.infill.errors import ModelError


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.arange(12.0).view(3, 4), "b": torch.ones(5).bfloat16()}, path)
    return path


def write_header(path: Path, header: object, data: bytes = b"") -> None:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_a_whole_file_passes(weights: Path) -> None:
    check_safetensors(weights)


def test_tensors_are_read_as_float32(weights: Path) -> None:
    entries = read_header(weights)
    assert read_tensor(weights, entries["a"]).tolist()[2] == [8, 9, 10, 11]
    assert read_tensor(weights, entries["b"]).tolist() == [1] * 5


def test_a_truncated_file_is_refused_with_both_sizes(weights: Path) -> None:
    whole = weights.stat().st_size
    os.truncate(weights, whole - 7)
    with pytest.raises(ModelError, match=f"has {whole - 7} bytes.*needs {whole}"):
        check_safetensors(weights)


def test_a_file_cut_inside_its_header_is_refused_with_both_sizes(weights: Path) -> None:
    os.truncate(weights, 20)
    with pytest.raises(ModelError, match=r"has 20 bytes, its header needs \d+"):
        check_safetensors(weights)


def test_bytes_after_the_last_tensor_are_refused(weights: Path) -> None:
    with weights.open("ab") as file:
        file.write(b"more")
    with pytest.raises(ModelError, match="damaged"):
        check_safetensors(weights)


@pytest.mark.parametrize("content", [b"", b"weights", b"\xff" * 64])
def test_other_content_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="no safetensors file"):
        check_safetensors(path)


@pytest.mark.parametrize(
    "header",
    [
        [],
        {"w": 1},
        {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}},
        {"w": {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]}},
        {"w": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}},
        {"w": {"dtype": "F32", "shape": [1]}},
        {"w": {"dtype": "F32", "shape": [-1, -1], "data_offsets": [4, 0]}},
    ],
)
def test_a_header_that_contradicts_itself_is_refused(
    tmp_path: Path, header: object
) -> None:
    path = tmp_path / "model.safetensors"
    write_header(path, header, bytes(8))
    with pytest.raises(ModelError, match="damaged"):
        check_safetensors(path)


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=40))
def test_rounding_to_bfloat16_is_that_of_torch(
    tmp_path_factory: pytest.TempPathFactory, values: list[float]
) -> None:
    path = tmp_path_factory.mktemp("rounding") / "model.safetensors"
    floats = np.array(values, np.float32).reshape(-1, 1)
    plan = Planned("w", "BF16", floats.shape, lambda start, stop: floats[start:stop])
    write_tensors(path, [plan], lambda done: None)
    check_safetensors(path)
    with safe_open(path, "pt") as file:
        assert torch.equal(file.get_tensor("w"), torch.from_numpy(floats).bfloat16())
