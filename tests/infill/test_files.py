"""Reading a user's file and replacing it without losing anything."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from niello.infill import files
from niello.infill.errors import SourceError
from niello.infill.files import (
    decode_source,
    read_source,
    sweep_parts,
    write_source,
)

NEEDS_POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX modes")


def made(folder: Path, data: bytes, name: str = "a.py") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        b"x = 1\r\ny = 2\n\rz\x0c\x0b\n",
        b"\xef\xbb\xbfx = 1\n",
        "caf\u00e9 \U0001f399\u2028".encode(),
        b"\xff\xfe" + "n = 1\r\n".encode("utf-16-le"),
        b"\xfe\xff" + "n = \u00e9\n".encode("utf-16-be"),
        b"",
    ],
)
def test_a_file_written_back_has_the_same_bytes(tmp_path: Path, data: bytes) -> None:
    path = made(tmp_path, data)
    source = read_source(path)
    assert not source.text.startswith("\ufeff")
    write_source(source, source.text)
    assert path.read_bytes() == data


@given(st.binary())
def test_decoding_gives_the_same_bytes_or_refuses(data: bytes) -> None:
    try:
        source = decode_source(Path("a"), data)
    except SourceError:
        return
    assert source.bom + source.text.encode(source.encoding) == data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"ok\n# M\xd6l\n", "not UTF-8 (byte 0xd6 in line 2)"),
        (b"\x7fELF\x00\x00", "binary"),
        (b"\x89PNG\x00\xff", "binary"),
        (b"\xff\xfea", "not UTF-16-LE"),
        (b"x" * 1_000_001, "too large"),
    ],
)
def test_a_file_that_cannot_be_handled_is_named_with_the_reason(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    path = made(tmp_path, data)
    with pytest.raises(SourceError, match=r"a\.py") as caught:
        read_source(path)
    assert reason in str(caught.value)


def test_a_missing_file_and_a_folder_are_source_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read"):
        read_source(tmp_path / "none.py")
    with pytest.raises(SourceError, match="not a regular file"):
        read_source(tmp_path)


@NEEDS_POSIX
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(SourceError, match="not a regular file"):
        read_source(tmp_path / "pipe.py")


@NEEDS_POSIX
@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664])
def test_writing_keeps_mode_and_group(tmp_path: Path, mode: int) -> None:
    path = made(tmp_path, b"a")
    path.chmod(mode)
    before = path.stat()
    write_source(read_source(path), "b")
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_writing_gives_a_new_modification_time(tmp_path: Path) -> None:
    path = made(tmp_path, b"a")
    os.utime(path, (1, 1))
    write_source(read_source(path), "b")
    assert path.stat().st_mtime > 1


@NEEDS_POSIX
def test_a_symbolic_link_stays_one_and_its_target_is_written(tmp_path: Path) -> None:
    real = made(tmp_path, b"a", "real.py")
    link = tmp_path / "alias.py"
    link.symlink_to("real.py")
    write_source(read_source(link), "b")
    assert link.is_symlink()
    assert real.read_bytes() == b"b"


@NEEDS_POSIX
def test_a_file_with_two_hard_links_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path, b"a")
    os.link(path, tmp_path / "b.py")
    with pytest.raises(SourceError, match="2 hard links"):
        write_source(read_source(path), "b")
    assert path.read_bytes() == b"a"


@NEEDS_POSIX
def test_a_read_only_file_is_refused_even_for_root(tmp_path: Path) -> None:
    path = made(tmp_path, b"a")
    path.chmod(0o444)
    with pytest.raises(SourceError, match="read-only"):
        write_source(read_source(path), "b")
    assert path.read_bytes() == b"a"


def test_a_file_changed_in_the_meantime_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path, b"a")
    source = read_source(path)
    path.write_bytes(b"c")
    with pytest.raises(SourceError, match="changed on disk"):
        write_source(source, "b")
    assert path.read_bytes() == b"c"
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_write_that_fails_half_way_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path, b"N = 1\n" * 10)
    source = read_source(path)
    real_write = os.write

    def full_disk(descriptor: int, data: bytes) -> int:
        if os.fstat(descriptor).st_size >= 10:
            raise OSError(28, "No space left on device")
        return real_write(descriptor, data[:10])

    monkeypatch.setattr(files.os, "write", full_disk)
    with pytest.raises(SourceError, match="No space left"):
        write_source(source, "N = 2\n" * 10)
    assert path.read_bytes() == b"N = 1\n" * 10
    assert os.listdir(tmp_path) == ["a.py"]


def test_text_the_encoding_cannot_hold_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path, b"a")
    with pytest.raises(SourceError, match="cannot encode"):
        write_source(read_source(path), "\ud800")
    assert os.listdir(tmp_path) == ["a.py"]


def test_what_a_killed_writer_left_is_swept(tmp_path: Path) -> None:
    path = made(tmp_path, b"a")
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from niello.infill import files\n"
        "files.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.write_source(files.read_source(Path(sys.argv[1])), 'b')\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert len(os.listdir(tmp_path)) == 2
    sweep_parts(tmp_path)
    assert os.listdir(tmp_path) == ["a.py"]
    assert path.read_bytes() == b"a"
