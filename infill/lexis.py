"""The brackets and line ends of a text, told from its strings and comments.

Works on text that is not finished or does not parse, where a syntax tree is of no help:
what a model has written so far. Knows a language only by its lexical facts.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from niello.grammars.catalogue import Language, Quote

PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CLOSERS = frozenset(PAIRS.values())
_NO_CONTENT = "area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr"


class Token(NamedTuple):
    """A bracket, a line end, a statement's terminator, or a stretch without any."""

    kind: str  # "open", "close", "newline", "end" (of a statement), "cut", or a literal
    start: int
    end: int
    text: str


class Bracket(NamedTuple):
    """An opening bracket that is not closed."""

    offset: int
    closer: str


def tokens(text: str, language: Language | None, start: int = 0) -> Iterator[Token]:
    """Yield what matters to brackets; a string or comment without end is one "cut"."""
    pattern = _pattern(language)
    position = start
    while match := pattern.search(text, position):
        kind, position = _measure(text, match, language)
        body = text[match.start() : position]
        if body.startswith("<") and kind in ("open", "close"):
            body = "<" if kind == "open" else ">"  # All tags are one kind of bracket.
        yield Token(kind, match.start(), position, body)


def _measure(
    text: str, match: re.Match[str], language: Language | None
) -> tuple[str, int]:
    """Return the kind of a token and where it ends."""
    kind = match.lastgroup or ""
    if kind == "quote" and language is not None:
        quote = next(q for q in language.strings if q.opener == match[0])
        if quote.style == "template":
            end = _template_end(text, match.end(), language, quote)
            return ("string", end) if end else ("cut", len(text))
        end = _string_end(text, match.end(), quote)
        closed = text.startswith(quote.closer, end - len(quote.closer), end)
        closed = closed and end >= match.end() + len(quote.closer)
        # In broken code a line ends a string that has no end.
        return ("string" if closed or end < len(text) else "cut"), end
    if kind == "heredoc":
        return _heredoc(text, match)
    return kind, match.end()


def unclosed(text: str, language: Language | None) -> list[Bracket]:
    """Return the brackets that a text opens and does not close, outermost first."""
    stack: list[Bracket] = []
    for token in tokens(text, language):
        if token.kind == "open":
            stack.append(Bracket(token.start, PAIRS[token.text]))
        elif token.kind == "close":
            _close(stack, token.text)
    return stack


def unopened(text: str, language: Language | None) -> list[Token]:
    """Return the closing brackets that a text does not open, in order."""
    stack: list[Bracket] = []
    extra: list[Token] = []
    for token in tokens(text, language):
        if token.kind == "open":
            stack.append(Bracket(token.start, PAIRS[token.text]))
        elif token.kind == "close" and not _close(stack, token.text):
            extra.append(token)
    return extra


def literal_end(literal: str, language: Language | None) -> tuple[str, bool]:
    """Return what closes a string or comment, and whether it may run over lines."""
    if language is None:
        return "", False
    if language.block_comment and literal.startswith(language.block_comment[0]):
        return language.block_comment[1], True
    body = literal.lstrip("rRbBfFuUtTlLcC@$8")
    for quote in sorted(language.strings, key=lambda quote: -len(quote.opener)):
        if literal.startswith(quote.opener) or body.startswith(quote.opener):
            return quote.closer, quote.style not in ("", "char")
    return "", not _is_line_comment(literal, language)


def _is_line_comment(literal: str, language: Language) -> bool:
    return any(re.match(marker, literal) for marker in language.line_comments)


def _close(stack: list[Bracket], closer: str) -> bool:
    """Take the bracket that ``closer`` closes off the stack, if there is one."""
    for depth in range(len(stack) - 1, -1, -1):
        if stack[depth].closer == closer:
            del stack[depth:]
            return True
    return False


def _string_end(text: str, position: int, quote: Quote) -> int:
    if quote.style == "raw":
        found = text.find(quote.closer, position)
        return len(text) if found < 0 else found + len(quote.closer)
    stop = "" if quote.style == "lines" else r"|(?=\n)"
    pattern = re.compile(rf"(?:\\.|(?!{re.escape(quote.closer)}{stop}).)*", re.DOTALL)
    match = pattern.match(text, position)
    end = match.end() if match else position
    return end + len(quote.closer) if text.startswith(quote.closer, end) else end


def _template_end(
    text: str, position: int, language: Language | None, quote: Quote
) -> int:
    """Return where a template string ends, 0 if it does not; ``${}`` holds code."""
    pattern = re.compile(rf"\\.|\$\{{|{re.escape(quote.closer)}", re.DOTALL)
    while match := pattern.search(text, position):
        position = match.end()
        if match[0] == quote.closer:
            return position
        if match[0] == "${":
            depth = 1
            for token in tokens(text, language, position):
                depth += {"open": 1, "close": -1}.get(token.kind, 0)
                position = token.end
                if depth == 0:
                    break
            if depth:
                return 0
    return 0


def _heredoc(text: str, match: re.Match[str]) -> tuple[str, int]:
    """Return the kind and end of a here-document; its line goes on after the opener."""
    closing = re.compile(rf"\n[ \t]*{re.escape(match['end'])}\b")
    found = closing.search(text, match.end())
    return ("string", found.end()) if found else ("cut", len(text))


@lru_cache
def _pattern(language: Language | None) -> re.Pattern[str]:
    parts = [] if language is None else list(_facts(language))
    known = "([{" if language is None else language.brackets
    if "<" in known:
        parts.append(
            rf"(?P<close></[a-zA-Z])|(?P<open><(?!(?:{_NO_CONTENT})\b)[a-zA-Z][^>]*(?<!/)>)"
        )
    elif known:
        closers = "".join(PAIRS[sign] for sign in known)
        parts.append(
            f"(?P<open>[{re.escape(known)}])|(?P<close>[{re.escape(closers)}])"
        )
    parts.append(r"(?P<newline>\n)")
    return re.compile("|".join(parts), re.DOTALL)


def _facts(language: Language) -> Iterator[str]:
    if language.heredoc:
        yield f"(?P<heredoc>{language.heredoc})"
    if language.block_comment:
        opener, closer = map(re.escape, language.block_comment)
        yield rf"(?P<comment>{opener}.*?{closer})|(?P<cut>{opener}(?!.*?{closer}).*)"
    if language.line_comments:
        yield rf"(?P<note>(?:{'|'.join(language.line_comments)})[^\n]*)"
    if any(quote.style == "char" for quote in language.strings):
        # What is no character is a lifetime, a label or a digit separator.
        yield r"(?P<char>(?<!\w)'(?:\\[^\n][^'\n]*|[^'\\\n])')"
    openers = [quote.opener for quote in language.strings if quote.style != "char"]
    if openers:
        yield f"(?P<quote>{'|'.join(map(re.escape, openers))})"
    if language.regex:
        yield (
            r"(?P<regex>(?:(?<=[(,=:\[!&|?{};\n+])|(?<=[(,=:\[!&|?{};\n+] ))"
            r"/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/)"
        )
    if language.terminator:
        yield f"(?P<end>{re.escape(language.terminator)})"
