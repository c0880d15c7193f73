"""The documentation names every setting, command and message, and nothing else."""

import re
from pathlib import Path

from niello.lsp.layers import SETTINGS, Layers
from niello.lsp.reference import COMMANDS, MESSAGES, page
from niello.lsp.server import create_server
from niello.lsp.status import STATUS

ROOT = Path(__file__).resolve().parent.parent.parent


def no_filler(*_: object) -> None:  # Nothing is loaded before a client is there.
    raise AssertionError


def test_the_page_is_what_the_declarations_say() -> None:
    path = ROOT / "docs" / "settings.md"
    assert path.read_text("utf-8") == page(), "run python -m niello.lsp.reference"


def test_every_setting_of_the_page_exists_and_the_reverse() -> None:
    named = re.findall(r"^\| `([a-z_.]+)` \|", page(), re.MULTILINE)
    assert named == list(SETTINGS)


def test_every_command_of_the_page_exists_and_the_reverse() -> None:
    server = create_server(no_filler, Layers())  # type: ignore[arg-type]
    assert set(COMMANDS) == set(server.protocol.fm.commands)
    own = {name for name in server.protocol.fm.features if name.startswith("niello/")}
    assert set(MESSAGES) == own | {STATUS}


def camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def test_a_client_s_spelling_of_every_setting_is_understood() -> None:
    layers = Layers()
    for key, setting in SETTINGS.items():
        value = setting.default
        value = list(value) if isinstance(value, tuple) else value
        assert layers.update("client", {camel(key): value}) == []
    assert layers.settings == Layers().settings
