"""What was timed is remembered a machine, and a broken file costs the time alone."""

from pathlib import Path

import pytest

from niello.engine import kernels
from niello.engine.timings import recall, remember, remembered


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NIELLO_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_what_is_remembered_is_not_timed_again() -> None:
    assert remembered("kernel", str, lambda: "int8") == "int8"
    assert remembered("kernel", str, lambda: pytest.fail("timed again")) == "int8"


def test_another_number_of_threads_is_another_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remember("seconds", 0.5)
    monkeypatch.setattr("torch.get_num_threads", lambda: 99)
    assert recall("seconds", float) is None


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": ', "\0"])
def test_a_broken_file_is_written_anew(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "timings.json").write_text(text)
    assert recall("seconds", float) is None
    remember("seconds", 0.5)
    assert recall("seconds", float) == 0.5
    assert recall("seconds", str) is None


def test_a_folder_that_cannot_be_written_is_no_error(folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    assert remembered("kernel", str, lambda: "int8") == "int8"


def test_each_shape_has_its_kernel_and_an_unknown_name_is_timed_out_of(
    folder: Path,
) -> None:
    kernels.choose.cache_clear()
    remember("kernel 96x64", "bfloat16")
    remember("kernel 32x64", "a kernel of tomorrow")
    assert kernels.choose(96, 64) == kernels.BFLOAT16
    assert kernels.choose(32, 64) == kernels.FLOAT32
    kernels.choose.cache_clear()
