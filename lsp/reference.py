"""The reference of settings, commands and messages, written from what is declared.

``python -m niello.lsp.reference`` writes docs/settings.md; a test holds it to that.
"""

from collections.abc import Mapping
from pathlib import Path

from .layers import SETTINGS, Setting

_INTRODUCTION = """\
# Settings, commands and messages

This page is written by `python -m niello.lsp.reference`; edit the declarations in
`lsp/settings.py` and not this file.

A setting is taken from the first of these that has it: a flag of `niello serve`, an
environment variable, the client (`initializationOptions`, `workspace/configuration`
section `niello`, `workspace/didChangeConfiguration`), the project (`niello.toml`, else
`[tool.niello]` in `pyproject.toml`), the default. With several folders open, a document
has the project file of the innermost one it is in, and what the client says of that
folder; a document in none has those of the first, and so has the engine (`model`,
`threads`, `check`) and the log. Keys may be written in snake case, camel case or with
hyphens, nested or with dots. A wrong value keeps the one before and is named in one
message. Changes apply at once; another model is loaded without a restart.

A project file may not set what is marked *private*: opening a stranger's folder must
not choose what runs or where a log is written.

"""

COMMANDS: Mapping[str, str] = {
    "niello.edit": "Computes an in-place edit and has the client apply it. Its "
    "argument is `{edit, uri, range, version?, instruction?}`; `edit` is `fill`, "
    "`rewrite`, `block`, `body`, `docstring`, `annotations`, `syntax`, `next` or "
    "`markers`. An instruction is seen by the model as a comment and enters no file.",
    "niello.pullModel": "Fetches the model that the settings name, and loads it.",
    "niello.clearCache": "Frees what is kept of contexts and shown candidates.",
    "niello.restartEngine": "Loads the model anew.",
    "niello.showLog": "Returns the path of the log file.",
}
MESSAGES: Mapping[str, str] = {
    "niello/status": "Notification to the client, `{kind, message, percent?, uri?}`: "
    "`kind` is `loading`, `ready`, `busy`, `disabled` or `error`.",
    "niello/nextEdit": "Request, `{textDocument: {uri, version}, position}`; answers "
    "`{edits: [{textDocument, range, text}]}`.",
    "niello/counters": "Request; answers sums over all fills since the start.",
    "niello/idle": "Request; answered when the engine could begin something new.",
}


def page() -> str:
    """Return the reference as Markdown."""
    rows = ["| setting | default | values | meaning |", "| --- | --- | --- | --- |"]
    rows += [_row(each) for each in SETTINGS.values()]
    return (
        _INTRODUCTION
        + "\n".join(rows)
        + "\n\nThe flag of `inline.debounce_ms` is `--inline-debounce-ms`, its "
        "environment variable\n`NIELLO_INLINE_DEBOUNCE_MS`; the others are named "
        "alike.\n"
        + _section("Commands", COMMANDS)
        + _section("Messages beside the protocol's own", MESSAGES)
    )


def _row(setting: Setting) -> str:
    default = setting.default
    if isinstance(default, tuple):
        shown = " ".join(f"`{each}`" for each in default)
    elif isinstance(default, bool):
        shown = f"`{str(default).lower()}`"
    else:
        shown = f"`{default}`" if default != "" else "empty"
    doc = setting.doc + (" *Private.*" if setting.private else "")
    return f"| `{setting.key}` | {shown} | {setting.expects} | {doc} |"


def _section(title: str, entries: Mapping[str, str]) -> str:
    rows = [f"- `{name}`: {text}" for name, text in entries.items()]
    return f"\n## {title}\n\n" + "\n".join(rows) + "\n"


def main() -> None:
    """Write the page into the checkout."""
    path = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
    path.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
