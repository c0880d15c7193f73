"""Reads the Lisp of an Emacs configuration: lists, texts, symbols and numbers."""

import re
from typing import Any

TOKEN = re.compile(r"""\s*(?:;[^\n]*\s*)*("(?:\\.|[^"\\])*"|[()']|[^\s()'"]+)""")


def read_lisp(text: str) -> Any:
    """Return the first form: lists as lists, texts and symbols as strings."""
    tokens = TOKEN.findall(text)
    form, _ = _read(tokens, 0)
    return form


def _read(tokens: list[str], at: int) -> tuple[Any, int]:
    token = tokens[at]
    if token == "'":
        quoted, after = _read(tokens, at + 1)
        return ["quote", quoted], after
    if token == "(":
        items: list[Any] = []
        at += 1
        while tokens[at] != ")":
            item, at = _read(tokens, at)
            items.append(item)
        return items, at + 1
    if token.startswith('"'):
        return token[1:-1], at + 1
    return int(token) if token.isdigit() else token, at + 1


def as_json(form: Any) -> Any:
    """Turn a property list into the object that Emacs sends."""
    if isinstance(form, list) and form and str(form[0]).startswith(":"):
        pairs = zip(form[::2], form[1::2], strict=True)
        return {str(key)[1:]: as_json(value) for key, value in pairs}
    return form
