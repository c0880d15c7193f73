"""Settings: which layer wins, what a wrong value does, and what is never said."""

from pathlib import Path
from typing import Any

import pytest

from niello.lsp.layers import SETTINGS, Layers, read_environment, read_project
from niello.lsp.settings import Settings


def test_no_layer_says_anything_at_first() -> None:
    assert Layers().settings == Settings()


def test_a_flag_beats_environment_client_and_project() -> None:
    layers = Layers()
    for layer, room in (("flag", "4"), ("project", 1), ("environment", "3")):
        assert layers.replace(layer, {"room": room}) == []  # type: ignore[arg-type]
    layers.update("client", {"room": 2})
    assert layers.settings.room == 4
    layers.replace("flag", {})
    assert layers.settings.room == 3
    layers.replace("environment", {})
    assert layers.settings.room == 2


@pytest.mark.parametrize("key", ["debounce_ms", "debounceMs", "debounce-ms"])
def test_a_key_may_be_spelled_in_the_client_s_way(key: str) -> None:
    layers = Layers()
    layers.update("client", {"inline": {key: 7}})
    assert layers.settings.inline.debounce_ms == 7


def test_a_flat_key_with_a_dot_is_the_nested_one() -> None:
    layers = Layers()
    layers.update("client", {"inline.debounceMs": 7})
    assert layers.settings.inline.debounce_ms == 7


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("room", "many"),
        ("room", -5),
        ("room", 1.5),
        ("room", True),
        ("enabled", 1),
        ("model", None),
        ("languages", {"python": "no"}),
        ("disabled_globs", ["*.key", 1]),
        ("completion", {"enabled": "sometimes"}),
        ("inline", 3),
        ("inline", {"min_confidence": float("nan")}),
    ],
)
def test_a_wrong_value_keeps_the_old_one(key: str, value: Any) -> None:
    layers = Layers()
    layers.update("client", {"room": 9, "languages": {"go": False}})
    before = layers.settings
    warnings = layers.update("client", {key: value})
    assert layers.settings == before
    assert [key in each for each in warnings] in ([True], [])


def test_a_wrong_value_is_named_in_one_warning_only() -> None:
    layers = Layers()
    (warning,) = layers.update("client", {"room": "many"})
    assert warning.startswith("Setting room must be a whole number from 1 to 4096")
    assert layers.update("client", {"room": "more"}) == []


@pytest.mark.parametrize("raw", [None, {}, [1, 2], "x"])
def test_settings_that_are_no_object_change_nothing(raw: Any) -> None:
    layers = Layers()
    layers.update("client", {"room": 9})
    layers.update("client", raw)
    assert layers.settings.room == 9


def test_neither_a_warning_nor_the_log_repeats_a_value(
    caplog: pytest.LogCaptureFixture,
) -> None:
    layers = Layers()
    caplog.set_level("DEBUG")
    warnings = layers.update(
        "client",
        {"room": "ZEBRA-99", "authToken": "ZEBRA-99", "headers": {"a": "ZEBRA-99"}},
    )
    assert "ZEBRA-99" not in str(warnings) + caplog.text


def test_the_environment_sets_what_its_variables_name() -> None:
    layers = Layers()
    found = read_environment(
        {
            "NIELLO_INLINE_DEBOUNCE_MS": "5",
            "NIELLO_CHECK": "off",
            "NIELLO_LANGUAGES": "go=false,python=true",
            "NIELLO_DISABLED_GLOBS": "*.key, *.pem",
            "NIELLO_HOME": "/x",
        }
    )
    assert layers.replace("environment", found) == []
    settings = layers.settings
    assert settings.inline.debounce_ms == 5
    assert settings.check is False
    assert settings.languages == {"go": False, "python": True}
    assert settings.disabled_globs == ("*.key", "*.pem")


def test_a_project_may_not_choose_the_model(tmp_path: Path) -> None:
    (tmp_path / "niello.toml").write_text('model = "/evil"\nroom = 8\n')
    layers = Layers()
    warnings = layers.replace("project", read_project(tmp_path))
    assert layers.settings.model == "default"
    assert layers.settings.room == 8
    assert warnings == ["Setting model is not taken from a project file."]


def test_pyproject_is_read_where_there_is_no_niello_toml(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.niello.inline]\nenabled = false\n")
    assert read_project(tmp_path) == {"inline": {"enabled": False}}


@pytest.mark.parametrize("text", ["= nonsense", "\x00", "[tool]\nniello = 3\n", ""])
def test_a_broken_project_file_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert read_project(tmp_path) == {}


def test_every_default_is_accepted_by_its_own_setting() -> None:
    for each in SETTINGS.values():
        assert each.accept(each.default) == each.default


A, B, INNER = "file:///w/a", "file:///w/b%20c", "file:///w/a/inner"


def folders(*roots: str) -> Layers:
    layers = Layers()
    layers.set_roots(roots)
    for number, root in enumerate(roots):
        layers.replace("project", {"room": number + 1}, root)
    return layers


@pytest.mark.parametrize(
    ("uri", "room"),
    [
        ("file:///w/a/x.py", 1),
        ("file:///w/b c/x.py", 2),
        ("vscode-notebook-cell:/w/b%20c/n.ipynb#W0", 2),
        ("file:///w/a/inner/x.py", 3),
        ("file:///w/a/innermost.py", 1),
        ("file:///elsewhere.py", 1),
        ("untitled:Untitled-1", 1),
    ],
)
def test_a_document_has_the_settings_of_its_innermost_folder(
    uri: str, room: int
) -> None:
    assert folders(A, B, INNER).at(uri).room == room


def test_a_stronger_layer_beats_the_project_of_every_folder() -> None:
    layers = folders(A, B)
    layers.update("client", {"room": 9})
    layers.replace("client", {}, B)
    assert [layers.at(f"{root}/x.py").room for root in (A, B)] == [9, 2]
    layers.update("client", {"room": 7})
    assert [layers.at(f"{root}/x.py").room for root in (A, B)] == [7, 7]


def test_a_folder_that_has_gone_says_nothing() -> None:
    layers = folders(A, B)
    layers.set_roots([B])
    assert layers.settings.room == layers.at(f"{A}/x.py").room == 2
    layers.set_roots([B, A])
    assert layers.at(f"{A}/x.py").room == Settings().room


def test_a_wrong_value_of_a_folder_keeps_its_old_one() -> None:
    layers = folders(A, B)
    assert len(layers.replace("project", {"room": "many"}, B)) == 1
    assert layers.at(f"{B}/x.py").room == 2
