"""Watching a tiny model fill a place of a file."""

import argparse
from pathlib import Path

import pytest
from tiny_families import write_family

from niello import try_command


@pytest.mark.parametrize("model_type", ["a2d-qwen2", "sdar"])
def test_each_pass_shows_the_canvas_between_its_neighbours(
    model_type: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_family(tmp_path / "model", model_type)
    source = tmp_path / "a.py"
    source.write_text("def f(a):\n    return \n\nx = 1\n", "utf-8")
    parser = argparse.ArgumentParser()
    try_command.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(
        ["try", str(folder), f"{source}:2", "--room", "6", "--length", "fixed"]
    )
    assert arguments.run(arguments) == 0
    shown = capsys.readouterr().out
    assert "pass 1: " in shown
    assert "def f(a):" in shown
    assert "x = 1" in shown
    assert "passes, ended by" in shown
    assert source.read_text("utf-8") == "def f(a):\n    return \n\nx = 1\n"


def test_a_sure_token_is_green_and_a_guess_red() -> None:
    assert try_command.colour(0.95) == "green"
    assert try_command.colour(0.0) == "red"
