"""The command line: what it prints, how it exits, and that nothing is lost."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from filling import Stub

from niello import fill_command
from niello.cli import main
from niello.engine.store import Store
from niello.infill.errors import ModelError

SOURCE = "def add(a, b):\n    return \n\n\nprint(add(1, 2))\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "add.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def model() -> None:
    try:
        Store().path("default")
    except ModelError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("missing.py:1", "missing.py: cannot read: No such file"),
        ("add.py", "write FILE:LINE or FILE:LINE:COL"),
        ("add.py:0", "there is no line 0; the file has 6"),
        ("add.py:99", "there is no line 99; the file has 6"),
        ("add.py:1:99", "there is no column 99; the line has 15"),
        ("binary.py:1", "binary"),
        ("latin.py:1", "not UTF-8 (byte 0xe4 in line 1)"),
        (".:1", "not a regular file"),
        ("-:1", "say which language it is"),
    ],
)
def test_a_bad_place_is_named_in_one_line(
    source: Path,
    place: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(source.parent)
    Path("binary.py").write_bytes(b"\x7fELF\x00\x01")
    Path("latin.py").write_bytes("# Gerät".encode("latin-1"))
    assert main(["fill", place]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_an_unreadable_file_is_named(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if os.geteuid() == 0:
        source = source.parent / "loop.py"
        source.symlink_to("loop.py")  # what even root cannot read
    else:
        source.chmod(0)
    assert main(["fill", f"{source}:1"]) == 2
    assert f"{source}: cannot read" in capsys.readouterr().err


def test_an_unknown_engine_says_what_to_do(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fill", f"{source}:2", "--engine", "no-such-engine"]) == 2
    err = capsys.readouterr().err
    assert "no-such-engine" in err
    assert "name one of default" in err


def test_without_network_and_model_the_fetching_command_is_told(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NIELLO_HOME", str(tmp_path / "empty"))
    assert main(["fill", f"{source}:2"]) == 2
    assert "niello models pull default" in capsys.readouterr().err


def test_a_span_is_shown_without_a_model(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spans", f"{source}:2"]) == 0
    assert "given    '    return '" in capsys.readouterr().out


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.usefixtures("model")
def test_a_fill_is_shown_as_a_diff_and_written_only_when_told(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fill", f"{source}:2"]) == 0
    out, err = capsys.readouterr()
    assert "+    return a + b" in out
    assert "forward passes" in err
    assert source.read_text() == SOURCE
    assert main(["fill", f"{source}:2", "--write", "--json"]) == 0
    (candidate,) = json.loads(capsys.readouterr().out)
    assert candidate["text"].endswith("a + b")
    assert source.read_text() == SOURCE.replace("return ", "return a + b")


def test_a_form_feed_ends_no_line_of_a_diff(
    source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source.write_bytes(b"a = '\x0c'\nx = \n\x0cb = 1\n")
    monkeypatch.setattr(fill_command, "open_engine", lambda name: Stub("1"))
    assert main(["fill", f"{source}:2"]) == 0
    out = capsys.readouterr().out.split("\n")
    assert out[2:7] == [
        "@@ -1,3 +1,3 @@",
        " a = '\x0c'",
        "-x = ",
        "+x = 1",
        " \x0cb = 1",
    ]


# The real command line with a filler that is always in the middle.
FILLING = """
import sys, time
from niello import fill_command
from niello.cli import main

class WaitingFiller:
    def fill(self, canvases, draws, stop):
        print("filling", flush=True)
        time.sleep(60)

fill_command.open_engine = lambda name: WaitingFiller()
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupt_in_the_middle_of_a_fill_ends_it_in_one_line(source: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", FILLING, "fill", f"{source}:2", "--write"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "filling\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "niello: interrupted\n")
    assert source.read_text() == SOURCE


@pytest.mark.parametrize(
    ("extra", "named"),
    [
        (["--limit", "3"], "--limit"),
        (["src", "--max-tries", "1"], "PATH, --max-tries"),
    ],
)
def test_a_resumed_run_refuses_options_it_has_its_own_of(
    extra: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["refactor", "--resume", "last", *extra]) == 2
    assert f"leave out {named}," in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--limit", "--jobs", "--room", "--max-bytes"])
def test_a_count_below_one_is_refused(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["refactor", "--marker", option, "-1"])
    assert stopped.value.code == 2
    assert "1 or more" in capsys.readouterr().err


@pytest.mark.parametrize("temperature", ["-1", "nan", "inf", "1e9"])
def test_a_temperature_that_is_none_is_refused(
    source: Path, temperature: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["fill", f"{source}:2", f"--temperature={temperature}"])
    assert "a number from 0 to 10" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "told"), [("nowhere/out.html", "no folder nowhere"), (".", "is a folder")]
)
def test_a_report_that_could_not_be_written_is_refused_at_once(
    place: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (["refactor", "--marker"], ["apply"]):
        with pytest.raises(SystemExit) as stopped:
            main([*command, "--report", place])
        assert stopped.value.code == 2
        assert told in capsys.readouterr().err
