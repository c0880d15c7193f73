"""Which documents are left alone, and why: switches, secrets, sizes."""

from functools import lru_cache

from pathspec import GitIgnoreSpec

from .documents import Document, spelling
from .settings import Settings

LOST = "a change could not be read; close the document and open it again"


def refusal(document: Document, settings: Settings) -> str | None:
    """Return why nothing is proposed in a document, or None if it is."""
    if not settings.enabled:
        return "switched off (setting enabled)"
    if document.is_lost:
        return LOST
    if not settings.languages.get(document.language, True):
        return f"switched off for {document.language} (setting languages)"
    if any(
        _is_secret(uri, settings.disabled_globs)
        for uri in (document.uri, document.notebook)
    ):
        return "this file may hold secrets (setting disabled_globs)"
    if len(document.text) > settings.limits.file_kb * 1000:
        return "the file is too large (setting limits.file_kb)"
    return None


def line_refusal(document: Document, line: int, settings: Settings) -> str | None:
    """Return why nothing is proposed on a line, or None if it is."""
    lines = document.lines
    line = min(line, len(lines) - 1)
    if lines.end(line, document.text) - lines.start(line) > settings.limits.line_chars:
        return "the line is too long (setting limits.line_chars)"
    return None


@lru_cache(maxsize=256)
def _is_secret(uri: str, globs: tuple[str, ...]) -> bool:
    path = spelling(uri).partition(":")[2].lstrip("/")
    return _spec(globs).match_file(path)


@lru_cache(maxsize=8)
def _spec(globs: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(globs)
