"""What can be held of the VS Code extension without running it."""

import json
import re
import runpy
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "editors" / "vscode"


def test_the_settings_are_those_of_the_server() -> None:
    script = runpy.run_path(str(FOLDER / "scripts" / "configuration.py"))
    package = (FOLDER / "package.json").read_text("utf-8")
    hint = "run python editors/vscode/scripts/configuration.py"
    assert script["render"](package) == package, hint


def test_every_command_of_the_manifest_is_registered_and_the_reverse() -> None:
    package = json.loads((FOLDER / "package.json").read_text("utf-8"))
    declared = {each["command"] for each in package["contributes"]["commands"]}
    source = (FOLDER / "src" / "commands.ts").read_text("utf-8")
    registered = set(re.findall(r"^    '(niello\.[\w.]+)':", source, re.MULTILINE))
    assert declared == registered


def test_the_walkthrough_has_its_pages_and_pictures() -> None:
    package = json.loads((FOLDER / "package.json").read_text("utf-8"))
    for walkthrough in package["contributes"]["walkthroughs"]:
        for step in walkthrough["steps"]:
            media = step["media"].get("markdown") or step["media"]["image"]
            assert (FOLDER / media).is_file(), media


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text("utf-8"))
    assert all("resolved" not in package for package in lock["packages"].values())
