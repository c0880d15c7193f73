"""Every setting with its default and its meaning; the one source of both.

How values are read, checked and laid over each other is the business of layers.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


def _setting(default: Any, doc: str, **facts: Any) -> Any:
    """Declare one setting; facts are ``low``, ``high`` and ``private``.

    A private setting is not taken from a project file: opening a stranger's folder must
    not choose what runs here or where a log is written.
    """
    metadata = {"doc": doc, **facts}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Window:
    """How much text around the span the model sees."""

    prefix_tokens: int = _setting(
        1024, "Most tokens of text in front of the span.", low=16, high=32768
    )
    suffix_tokens: int = _setting(
        512, "Most tokens of text behind the span.", low=0, high=32768
    )
    extra_tokens: int = _setting(
        256,
        "Most tokens of other open files, taken where they are most like the file "
        "at the cursor; 0 takes none.",
        low=0,
        high=32768,
    )


@dataclass(frozen=True)
class Inline:
    """Ghost text while typing."""

    enabled: bool = _setting(True, "Whether inline completion proposes while you type.")
    candidates: int = _setting(
        3, "How many candidates are drawn when you ask for one.", low=1, high=8
    )
    debounce_ms: int = _setting(
        20,
        "Shortest wait after a keystroke, in milliseconds; fast typing lengthens it.",
        low=0,
        high=5000,
    )
    min_confidence: float = _setting(
        -0.6,
        "Lowest mean log-probability a token may have, in nats, for a candidate to be "
        "shown unasked; closer to 0 is quieter.",
        low=-100.0,
        high=0.0,
    )
    max_right: int = _setting(
        8,
        "Most letters and digits right of the cursor for which a candidate is shown "
        "unasked.",
        low=0,
        high=10000,
    )
    ahead: bool = _setting(
        True, "Whether the candidate that follows an accepted one is prepared ahead."
    )


@dataclass(frozen=True)
class Completion:
    """Candidates in the ordinary completion menu."""

    enabled: Literal["auto", "on", "off"] = _setting(
        "auto",
        "Whether the completion menu offers candidates; `auto` does so for clients "
        "without inline completion.",
    )


@dataclass(frozen=True)
class NextEdit:
    """Carrying a change on to the places it touches."""

    enabled: bool = _setting(
        False, "Whether a change is followed to other places in the file."
    )
    min_drop: float = _setting(
        3.0,
        "How far a token's log-probability must fall by the change, in nats, for its "
        "place to be filled again.",
        low=0.1,
        high=100.0,
    )
    reach: int = _setting(
        60,
        "How many lines on either side of the change are looked at.",
        low=1,
        high=2000,
    )


@dataclass(frozen=True)
class Limits:
    """Documents that are left alone because of their size."""

    file_kb: int = _setting(
        1000, "Largest document, in thousands of characters.", low=1, high=1_000_000
    )
    line_chars: int = _setting(
        10_000, "Longest line the cursor may be on.", low=80, high=10_000_000
    )


@dataclass(frozen=True)
class Log:
    """What is written down about the server's work."""

    level: Literal["error", "warning", "info", "debug"] = _setting(
        "info", "How much is written to the log."
    )
    file: str = _setting(
        "",
        "A file that gets the log beside standard error; empty for the user's own.",
        private=True,
    )
    code: bool = _setting(
        False, "Whether the log may hold your code, for hunting a fault.", private=True
    )


@dataclass(frozen=True)
class Settings:
    """All settings."""

    enabled: bool = _setting(True, "Whether Niello proposes anything.")
    model: str = _setting(
        "default", "The name of a pulled model, or the path of one.", private=True
    )
    threads: int = _setting(
        0,
        "Most threads the model computes with; 0 takes the physical cores. Fewer are"
        " used while others need the cores.",
        low=0,
        high=512,
    )
    check: bool = _setting(
        True,
        "Whether drafted tokens are checked: the text is then exactly the model's own.",
    )
    room: int = _setting(256, "Most tokens of one fill.", low=1, high=4096)
    languages: Mapping[str, bool] = _setting(
        {}, 'Languages switched on or off by name, such as `{"markdown": false}`.'
    )
    disabled_globs: tuple[str, ...] = _setting(
        (
            ".env*",
            "*.pem",
            "*.key",
            "*.p12",
            "*.pfx",
            "*.keystore",
            "id_rsa*",
            "id_ed25519*",
            ".netrc",
            "credentials*",
            "**/secrets/**",
            "**/.ssh/**",
        ),
        "Files that are never read into a prompt, in the syntax of .gitignore.",
    )
    window: Window = field(default_factory=Window)
    inline: Inline = field(default_factory=Inline)
    completion: Completion = field(default_factory=Completion)
    next_edit: NextEdit = field(default_factory=NextEdit)
    limits: Limits = field(default_factory=Limits)
    log: Log = field(default_factory=Log)
