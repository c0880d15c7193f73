"""Writes the settings of package.json from the server's own declarations.

`python editors/vscode/scripts/configuration.py` writes; a test compares. The settings
of the extension alone stand here; all others have their one source in lsp/settings.py.
"""

import json
import re
from pathlib import Path
from typing import Any, get_args, get_origin

from niello.lsp.layers import SETTINGS, Setting

PACKAGE = Path(__file__).resolve().parents[1] / "package.json"

OWN: dict[str, dict[str, Any]] = {
    "niello.server.command": {
        "type": "array",
        "items": {"type": "string"},
        "default": [],
        "scope": "machine-overridable",
        "description": "The server's command and its arguments; empty looks for "
        "`niello` on the path, then in the environment that the extension made.",
    },
    "niello.server.package": {
        "type": "string",
        "default": "niello",
        "scope": "machine-overridable",
        "description": "What pip installs when the extension makes an environment: a "
        "name with or without a version, or a file.",
    },
    "niello.statusBar": {
        "type": "boolean",
        "default": True,
        "description": "Whether the status bar says what Niello is doing.",
    },
}

TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def camel(key: str) -> str:
    """Spell a setting's key as VS Code does: ``inline.debounceMs``."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), key)


def describe(setting: Setting) -> dict[str, Any]:
    """Return a setting in the words of JSON schema."""
    schema: dict[str, Any] = {"markdownDescription": setting.doc}
    default: Any = setting.default
    if setting.choices:
        schema |= {"type": "string", "enum": list(setting.choices)}
    elif isinstance(setting.type, type) and setting.type in TYPES:
        schema["type"] = TYPES[setting.type]
    elif get_origin(setting.type) is tuple:
        schema |= {"type": "array", "items": {"type": "string"}}
        default = list(default)
    else:
        value_type = get_args(setting.type)[1]
        values = {"type": TYPES[value_type]}
        schema |= {"type": "object", "additionalProperties": values}
    if setting.low is not None:
        schema |= {"minimum": setting.low, "maximum": setting.high}
    schema["default"] = default
    # What chooses a program or a file belongs to the machine, not to a folder.
    schema["scope"] = "machine-overridable" if setting.private else "resource"
    return schema


def properties() -> dict[str, dict[str, Any]]:
    """Return all settings as package.json holds them."""
    server = {f"niello.{camel(key)}": describe(each) for key, each in SETTINGS.items()}
    return server | OWN


def render(package: str) -> str:
    """Return the text of package.json with the settings of today."""
    content = json.loads(package)
    content["contributes"]["configuration"]["properties"] = properties()
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PACKAGE.write_text(render(PACKAGE.read_text("utf-8")), "utf-8")
