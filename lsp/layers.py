"""Settings in layers: flag > environment > client > project file > default.

Client and project may say something else for each of the client's folders. A wrong
value keeps what its layer said before and yields one warning, which names the setting
and never the value, because that may be a secret.
"""

import dataclasses
import logging
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import unquote

from .documents import spelling
from .settings import Settings

logger = logging.getLogger(__name__)

Layer = Literal["project", "client", "environment", "flag"]
PROJECT_FILES = ("niello.toml", "pyproject.toml")
_WEAKEST_FIRST: tuple[Layer, ...] = get_args(Layer)


class Layers:
    """What each layer says, and the settings that follow from all of them."""

    def __init__(self) -> None:
        """Begin with the defaults alone, and without folders."""
        self._said: dict[tuple[str, Layer], dict[str, Any]] = {}  # "": everywhere
        self._warned: set[tuple[Layer, str]] = set()
        self.roots: tuple[str, ...] = ()
        self.by_root: dict[str, Settings] = {"": Settings()}

    @property
    def settings(self) -> Settings:
        """What holds for the engine, which is one, and outside of all folders."""
        return self.by_root[self.roots[0] if self.roots else ""]

    def at(self, uri: str) -> Settings:
        """Return what holds for a document: what its innermost folder says."""
        if len(self.roots) < 2:
            return self.settings
        path = _path(uri)
        around = [
            each
            for each in self.roots
            if not _path(each) or path.startswith(_path(each) + "/")
        ]
        innermost = max(around, key=lambda root: len(_path(root)), default=None)
        return self.settings if innermost is None else self.by_root[innermost]

    def set_roots(self, roots: Sequence[str]) -> None:
        """Take over the URIs of the client's folders; the first one is the engine's."""
        self.roots = tuple(roots)
        self._said = {
            key: values
            for key, values in self._said.items()
            if key[0] in ("", *self.roots)
        }
        self._build_all()

    def replace(self, layer: Layer, raw: Any, root: str = "") -> list[str]:
        """Take ``raw`` as all that a layer says; return warnings for the user."""
        accepted, warnings = self._read(layer, raw)
        before = self._says(root, layer)
        kept = {key: before[key] for key in warnings if key in before}
        self._said[root, layer] = {**kept, **accepted}
        return self._warn(layer, warnings)

    def update(self, layer: Layer, raw: Any) -> list[str]:
        """Take what ``raw`` names, for all folders; return warnings for the user."""
        accepted, warnings = self._read(layer, raw)
        self._said.setdefault(("", layer), {})
        for (_, named), values in self._said.items():
            if named == layer:
                values.update(accepted)
        return self._warn(layer, warnings)

    def _says(self, root: str, layer: Layer) -> dict[str, Any]:
        everywhere = self._said.get(("", layer), {})
        return self._said.get((root, layer), everywhere)

    def _build_all(self) -> None:
        for root in ("", *self.roots):
            merged: dict[str, Any] = {}
            for layer in _WEAKEST_FIRST:
                merged |= self._says(root, layer)
            self.by_root[root] = _build(Settings, merged)
        self.by_root = {each: self.by_root[each] for each in ("", *self.roots)}

    def _warn(self, layer: Layer, warnings: dict[str, str]) -> list[str]:
        self._build_all()
        fresh = [key for key in warnings if (layer, key) not in self._warned]
        self._warned.update((layer, key) for key in fresh)
        return [warnings[key] for key in fresh]

    def _read(self, layer: Layer, raw: Any) -> tuple[dict[str, Any], dict[str, str]]:
        accepted: dict[str, Any] = {}
        warnings: dict[str, str] = {}
        if raw is None:
            return accepted, warnings
        if not isinstance(raw, Mapping):
            return accepted, {"": f"The {layer} settings must be an object; ignored."}
        for key, value in flatten(raw):
            setting = SETTINGS.get(key)
            if setting is None:
                if (layer, key) not in self._warned:
                    self._warned.add((layer, key))
                    logger.info(
                        "the %s settings name %.100r, which is none", layer, key
                    )
            elif layer == "project" and setting.private:
                warnings[key] = f"Setting {key} is not taken from a project file."
            else:
                try:
                    text = isinstance(value, str) and layer in ("environment", "flag")
                    take = setting.parse if text else setting.accept
                    accepted[key] = take(value)
                except ValueError:
                    warnings[key] = (
                        f"Setting {key} must be {setting.expects}; the {layer} value "
                        "is ignored."
                    )
        return accepted, warnings


class Setting:
    """One leaf of the tree: its key, type, default and meaning."""

    def __init__(self, key: str, declared: dataclasses.Field[Any]) -> None:
        """Read the declaration of ``key``."""
        self.key = key  # such as "inline.debounce_ms"
        self.type = declared.type
        self.default = declared.default
        if declared.default_factory is not dataclasses.MISSING:
            self.default = declared.default_factory()
        self.doc: str = declared.metadata["doc"]
        self.low = declared.metadata.get("low")
        self.high = declared.metadata.get("high")
        self.private: bool = declared.metadata.get("private", False)

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "NIELLO_" + self.key.replace(".", "_").upper()

    @property
    def flag(self) -> str:
        """The command-line flag that sets it."""
        return "--" + self.key.replace(".", "-").replace("_", "-")

    @property
    def choices(self) -> tuple[str, ...]:
        """The values a choice allows; empty for other types."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def expects(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.low is not None:
            kind = "a whole number" if self.type is int else "a number"
            return f"{kind} from {self.low:g} to {self.high:g}"
        names = {bool: "true or false", str: "a text"}
        if self.type in names:
            return names[self.type]
        if get_origin(self.type) is tuple:
            return "a list of texts"
        return "an object of true or false by language"

    def accept(self, value: Any) -> Any:
        """Return ``value`` as this setting holds it, or raise ValueError."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if self.choices:
            fits = value in self.choices
        elif self.type is int or self.type is float:
            fits = number and self.low <= value <= self.high
            fits = fits and (self.type is float or value == int(value))
            value = self.type(value) if fits else value
        elif self.type is bool or self.type is str:
            fits = type(value) is self.type
        elif get_origin(self.type) is tuple:
            fits = isinstance(value, list | tuple)
            fits = fits and all(isinstance(each, str) for each in value)
            value = tuple(value) if fits else value
        else:
            fits = isinstance(value, dict)
            fits = fits and all(type(each) is bool for each in value.values())
        if not fits:
            raise ValueError(self.expects)
        return value

    def parse(self, text: str) -> Any:
        """Read a flag or an environment variable, or raise ValueError."""
        words = {"true": True, "1": True, "on": True, "yes": True}
        words |= {"false": False, "0": False, "off": False, "no": False}
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if self.choices or self.type is str:
            return self.accept(text)
        if self.type is bool:
            return self.accept(words.get(text.lower(), text))
        if self.type is int or self.type is float:
            return self.accept(float(text))
        if get_origin(self.type) is tuple:
            return self.accept(parts)
        pairs = [part.partition("=") for part in parts]
        return self.accept({name: words.get(word.lower()) for name, _, word in pairs})


def _leaves(group: type, prefix: str = "") -> Iterator[Setting]:
    for declared in dataclasses.fields(group):
        if dataclasses.is_dataclass(declared.type):
            assert isinstance(declared.type, type)
            yield from _leaves(declared.type, f"{prefix}{declared.name}.")
        else:
            yield Setting(prefix + declared.name, declared)


SETTINGS: Mapping[str, Setting] = {each.key: each for each in _leaves(Settings)}


def flatten(raw: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested tables as keys; ``debounceMs`` and ``debounce-ms`` are one key."""
    for name, value in raw.items():
        key = prefix + re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", str(name))
        key = key.replace("-", "_").lower()
        if isinstance(value, Mapping) and key not in SETTINGS:
            yield from flatten(value, key + ".")
        else:
            yield key, value


def read_project(folder: Path) -> Mapping[str, Any]:
    """Return a folder's own settings: niello.toml, else [tool.niello] of pyproject."""
    for name, table in zip(PROJECT_FILES, ((), ("tool", "niello")), strict=True):
        try:
            found: Any = tomllib.loads((folder / name).read_text("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        for part in table:
            found = found.get(part, {}) if isinstance(found, dict) else {}
        if isinstance(found, dict) and found:
            return found
    return {}


def read_environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings that environment variables name, as texts."""
    return {
        key: environment[each.variable]
        for key, each in SETTINGS.items()
        if each.variable in environment
    }


@lru_cache(maxsize=1024)
def _path(uri: str) -> str:
    """Return the path of a URI of any scheme: cells have one of their own."""
    return unquote(spelling(uri).partition(":")[2]).strip("/")


def _build(group: type[Any], values: Mapping[str, Any], prefix: str = "") -> Any:
    chosen: dict[str, Any] = {}
    for declared in dataclasses.fields(group):
        key = prefix + declared.name
        if dataclasses.is_dataclass(declared.type):
            assert isinstance(declared.type, type)
            chosen[declared.name] = _build(declared.type, values, f"{key}.")
        elif key in values:
            chosen[declared.name] = values[key]
    return group(**chosen)
