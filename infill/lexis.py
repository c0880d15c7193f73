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
_DEEPEST = 12  # strings in the code of strings; what is deeper counts as text
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


def tokens(
    text: str, language: Language | None, start: int = 0, depth: int = 0
) -> Iterator[Token]:
    """Yield what matters to brackets; a string or comment without end is one "cut".

    ``depth`` is how many strings, each in the code of another, the text is in.
    """
    pattern = _pattern(language)
    position = start
    while match := pattern.search(text, position):
        kind, position = _measure(text, match, language, depth)
        body = text[match.start() : position]
        if body.startswith("<") and kind in ("open", "close"):
            body = "<" if kind == "open" else ">"  # All tags are one kind of bracket.
        yield Token(kind, match.start(), position, body)


def _measure(
    text: str, match: re.Match[str], language: Language | None, depth: int
) -> tuple[str, int]:
    """Return the kind of a token and where it ends."""
    kind = match.lastgroup or ""
    if kind == "quote" and language is not None:
        quote = next(q for q in language.strings if q.opener == match[0])
        end = _closer_at(text, match.end(), quote, language, depth)
        if end is not None:
            return "string", end + len(quote.closer)
        # In broken code a line ends a string that has no end.
        line = text.find("\n", match.end()) if quote.style == "" else -1
        return ("string", line) if line >= 0 else ("cut", len(text))
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


def breaks_off(token: Token, language: Language | None) -> bool:
    """Tell whether a token is a string or comment without an end."""
    if token.kind != "string" or language is None:
        return token.kind == "cut"
    quote = _quote_of(token.text, language)
    if quote is None:
        return False
    return _closer_at(token.text, len(quote.opener), quote, language) is None


def literal_end(literal: str, language: Language | None) -> tuple[str, bool]:
    """Return what closes a string or comment, and whether it may run over lines."""
    if language is None:
        return "", False
    if language.block_comment and literal.startswith(language.block_comment[0]):
        return language.block_comment[1], True
    quote = _quote_of(literal, language)
    if quote is not None:
        return quote.closer, quote.style != ""
    return "", not _is_line_comment(literal, language)


def find_closer(
    text: str, start: int, literal: str, language: Language | None
) -> int | None:
    """Return where a text closes the literal that it is inside of, if it does."""
    quote = None if language is None else _quote_of(literal, language)
    if quote is not None and language is not None:
        return _closer_at(text, start, quote, language)
    closer, _ = literal_end(literal, language)
    found = text.find(closer, start) if closer else -1
    return found if found >= 0 else None


def _quote_of(literal: str, language: Language) -> Quote | None:
    body = literal.lstrip("rRbBfFuUtTlLcC@$8")
    for quote in sorted(language.strings, key=lambda quote: -len(quote.opener)):
        if literal.startswith(quote.opener) or body.startswith(quote.opener):
            return quote
    return None


def _is_line_comment(literal: str, language: Language) -> bool:
    return any(re.match(marker, literal) for marker in language.line_comments)


def _close(stack: list[Bracket], closer: str) -> bool:
    """Take the bracket that ``closer`` closes off the stack, if there is one."""
    for depth in range(len(stack) - 1, -1, -1):
        if stack[depth].closer == closer:
            del stack[depth:]
            return True
    return False


def _closer_at(
    text: str, position: int, quote: Quote, language: Language, depth: int = 0
) -> int | None:
    """Return where a string closes that ``position`` is inside of, if it does."""
    if quote.style == "raw":
        found = text.find(quote.closer, position)
        return found if found >= 0 else None
    pattern = _inside(quote)
    while match := pattern.search(text, position):
        position = match.end()
        if match.lastgroup == "closer":
            return match.start()
        if match.lastgroup == "newline":
            return None
        if match.lastgroup == "code" and depth < _DEEPEST:
            end = _code_end(text, match.end() - 1, language, depth + 1)
            if end is None:
                return None
            position = end
    return None


def _code_end(text: str, position: int, language: Language, depth: int) -> int | None:
    """Return where the code ends whose bracket opens at ``position`` in a string."""
    n_open = 0
    for token in tokens(text, language, position, depth):
        n_open += {"open": 1, "close": -1}.get(token.kind, 0)
        if n_open == 0:
            return token.end
    return None


@lru_cache
def _inside(quote: Quote) -> re.Pattern[str]:
    """Return what matters inside a string of a kind."""
    parts = [rf"(?P<closer>{re.escape(quote.closer)})"]
    if quote.code:
        parts.insert(0, f"(?P<code>{'|'.join(map(re.escape, quote.code.split()))})")
    if quote.style == "":
        parts.append(r"(?P<newline>\n)")
    return re.compile("|".join([*parts[:1], r"\\.", *parts[1:]]), re.DOTALL)


def _heredoc(text: str, match: re.Match[str]) -> tuple[str, int]:
    """Return the kind and end of a here-document; its line goes on after the opener."""
    word = re.escape(match["word"])
    closing = re.compile(rf"\n[ \t]*{word}(?=[;,.)\]\s]|\Z)")
    found = closing.search(text, match.end())
    return ("string", found.end()) if found else ("cut", len(text))


@lru_cache
def _pattern(language: Language | None) -> re.Pattern[str]:
    parts = [] if language is None else list(_facts(language))
    known = "([{" if language is None else language.brackets
    if "<" in known:
        parts.append(
            rf"(?P<close></[a-zA-Z])|(?P<open><(?!(?:{_NO_CONTENT})\b)[a-zA-Z][^<>]*(?<!/)>)"
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
