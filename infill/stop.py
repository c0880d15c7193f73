"""When a span is full: where a construct ends in a text that is still being written.

A model ends nearly every fill itself. These rules are the net below it: they never end
a text that may still be right, and end one that has left its construct: before a
bracket that is already there, where the indentation falls below the block, where the
lines that follow the span begin again.
"""

import re

from niello.grammars.catalogue import Language

from .canvas import StopRule
from .frame import Frame
from .lexis import PAIRS, Token, find_closer, literal_end, tokens
from .lines import TAB, is_blank, line_end, to_line_feeds, width
from .parse import Node, Parsed
from .place import Place, find_place
from .span import Span, enclosing

_CLOSERS = (")", "]", "}")
_FAR = 4  # lines after a bracket closed too often, until nothing can reopen it
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_HEADS = re.compile(r"[.?:+\-*/%&|^=<>,)\]}{]")


def stop_rule(parsed: Parsed, span: Span, n_given: int) -> StopRule:
    """Return the rule that tells where a text for the span is full."""
    if span.kind in ("string", "comment"):
        node = enclosing(parsed, span.end, (span.kind,))
        if node is not None and _is_closed(parsed, span, node):
            return _literal_rule(parsed, span, n_given, node)
    place = find_place(parsed, span, n_given)

    def stop(text: str) -> int | None:
        end = code_end(place, to_line_feeds(text))
        for found in re.finditer("\r\n", text):
            if end is None or found.start() >= end:
                break
            end += 1  # The CR that the line feeds left out.
        return end

    return stop


def code_end(place: Place, text: str) -> int | None:
    """Return where the code of a span ends in ``text``, None while it goes on."""
    inner: list[str] = []
    outer = list(place.frames)
    overrun: int | None = None  # where a bracket was closed that the document closes
    for token in tokens(text, place.language, place.lexed_from):
        if token.end <= place.n_given:
            continue
        if token.kind == "open":
            inner.append(PAIRS[token.text])
        elif token.kind == "close":
            if token.text in inner:
                del inner[len(inner) - inner[::-1].index(token.text) - 1 :]
            elif inner or not outer or outer[-1].closer != token.text:
                if not _is_case_label(place, text, token):
                    return token.start if overrun is None else overrun
            elif outer.pop().given:
                closer = "</" if token.text == ">" else token.text
                if place.ahead.startswith(closer):
                    return token.start
                overrun = token.start if overrun is None else overrun
        elif inner:
            continue
        elif token.kind == "end":
            # On a line of its own a text may be several statements.
            typed = not is_blank(text[: place.n_given])
            if typed and place.rest.startswith(token.text):
                return token.start
        elif token.kind == "newline":
            if repeats_following(place, text, token.start):
                rest = place.rest.rstrip()
                joint = token.start - len(rest)
                again = text.startswith(rest, joint, token.start)
                if place.frames and place.frames[-1].given and rest[:1] in _CLOSERS:
                    again = False  # That bracket is the text's own.
                return joint if again else token.start
            flows = bool(outer) and outer[-1].flows
            if not flows and _ends_at(place, outer, text, token):
                return token.start
    if overrun is not None and text.count("\n", overrun) > _FAR:
        return overrun
    return None


def closed_too_much(place: Place, text: str) -> int | None:
    """Return where a finished text closes a bracket that what follows closes again."""
    inner: list[str] = []
    outer = [frame.closer for frame in place.frames]
    overruns: list[Token] = []
    for token in tokens(text, place.language, place.lexed_from):
        if token.end <= place.n_given:
            continue
        if token.kind == "open":
            inner.append(PAIRS[token.text])
        elif token.kind == "close" and token.text in inner:
            del inner[len(inner) - inner[::-1].index(token.text) - 1 :]
        elif token.kind == "close" and outer and outer[-1] == token.text:
            if place.frames[len(outer) - 1].given:
                overruns.append(token)
            outer.pop()
    # A bracket opened later may stand for the one that was closed.
    for token in reversed(overruns):
        if token.text not in inner:
            return overruns[0].start
        inner.remove(token.text)
    return None


def _ends_at(place: Place, outer: list[Frame], text: str, token: Token) -> bool:
    """Tell whether the construct ends at a line end outside of all its own brackets."""
    if not is_blank(place.rest):
        return False  # The fill joins what is left of the line.
    if is_note(text[: token.start], place.language):
        return False  # What the comment is about comes below.
    kind, below_given = place.span.kind, _starts_below(place, text)
    if kind == "line" and not below_given and _is_whole(place, text[: token.start]):
        return True
    below = re.sub(r"\A(?:[ \t\f]*\n)+", "", text[token.end :])
    if is_blank(below):
        return False  # Nobody knows yet.
    line = below.split("\n", 1)[0]
    if kind in ("block", "list") or below_given:
        return _width(place, line) < min(place.floor, _first_width(place, text))
    if kind == "body":
        if len(outer) == len(place.frames) and place.frames and not _indents(place):
            return False
        return _width(place, line) < place.floor
    if place.language is not None and not place.language.brackets:
        return is_blank(text[token.end :].split("\n", 1)[0])  # A paragraph is full.
    if _width(place, line) > _width(place, text) or text[: token.start].endswith("\\"):
        return False
    return not _continues(place, line, whole="\n" in below)


def is_note(text: str, language: Language | None) -> bool:
    """Tell whether a text is nothing but comments up to their lines' ends."""
    signs = language.line_comments if language else ()
    note = re.compile(rf"\s*(?:{'|'.join(signs)})")
    lines = [line for line in text.split("\n") if not is_blank(line)]
    return bool(signs and lines) and all(note.match(line) for line in lines)


def _is_whole(place: Place, text: str) -> bool:
    """Tell whether nothing below can belong to the statement that ends here."""
    language = place.language
    if language is None:
        return False
    if language.layout == "indent":
        return not text.rstrip().endswith((":", "\\", "|", ">", "-"))
    return bool(language.terminator) and text.rstrip().endswith(language.terminator)


def _continues(place: Place, line: str, whole: bool) -> bool:
    """Tell whether a line that is not indented more goes on with the one above."""
    language = place.language
    if language is None or line.rstrip() in place.following[:1]:
        return False
    line = line.strip()
    if language.layout == "brace" and _HEADS.match(line):
        return True
    word = re.match(r"\w+", line)
    if word is None:
        return False
    if not whole and word.end() == len(line):  # The word may not be finished.
        return any(known.startswith(word[0]) for known in language.continues)
    return word[0] in language.continues


def repeats_following(place: Place, text: str, position: int) -> bool:
    """Tell whether the lines after ``position`` are the lines that follow the span."""
    if is_blank(text[place.n_given : position]) or not place.following:
        return False
    written = [line.rstrip() for line in text[position + 1 :].split("\n")[:-1]]
    written = [line for line in written if line]
    needed = len(place.following) if place.last else 2
    needed = min(needed, 2)
    if tuple(written[:needed]) != place.following[:needed]:
        return False
    weight = sum(map(str.isalnum, "".join(written[:needed])))
    return weight >= 4


def _starts_below(place: Place, text: str) -> bool:
    """Tell whether a text leaves the line as it is and goes on below it."""
    return is_blank(text[place.n_given :].split("\n", 1)[0])


def _indents(place: Place) -> bool:
    return place.language is None or place.language.layout != "brace"


def _first_width(place: Place, text: str) -> int:
    """Return the columns of the first line written that is not blank."""
    below = _starts_below(place, text) and not is_blank(text[: place.n_given])
    position = text.find("\n") + 1 if below else 0
    sign = re.compile(r"\S").search(text, position)
    if sign is None:
        return 0
    return _width(place, text[text.rfind("\n", 0, sign.start()) + 1 : sign.end()])


def _width(place: Place, line: str) -> int:
    """Return how many columns a line written is indented, as the document would be.

    Where that has tabs, a model that writes spaces writes four for each.
    """
    columns = width(line)
    return columns * TAB // 4 if place.tabs and line.startswith(" ") else columns


def _is_case_label(place: Place, text: str, token: Token) -> bool:
    """Tell whether a closing bracket ends a shell's case label."""
    language = place.language
    if language is None or token.text != ")" or "esac" not in language.continues:
        return False
    line = text[text.rfind("\n", 0, token.start) + 1 : token.start]
    patterns = _QUOTED.sub("_", line).split("|")
    depth = int(place.in_case)
    for word in re.findall(r"\b(?:case(?=\s)|esac\b)", text[: token.start]):
        depth += 1 if word == "case" else -1
    return depth > 0 and all(len(pattern.split()) < 2 for pattern in patterns)


def _is_closed(parsed: Parsed, span: Span, node: Node) -> bool:
    """Tell whether the text after the span closes the literal it is in.

    In broken code an open string takes its closing quote from a later line.
    """
    text = parsed.text
    closer, over_lines = literal_end(text[node.start : node.end], parsed.language)
    line = line_end(text, span.end)
    if node.end > line and closer and (not over_lines or parsed.broken):
        return False
    return text.endswith(closer, span.end, node.end)


def _literal_rule(parsed: Parsed, span: Span, n_given: int, node: Node) -> StopRule:
    """Return the rule for the rest of a string or a comment that is closed."""
    literal, language = parsed.text[node.start : node.end], parsed.language
    _, over_lines = literal_end(literal, language)

    def stop(text: str) -> int | None:
        end = find_closer(text, n_given, literal, language)
        if not over_lines:
            line = text.find("\n", n_given)
            end = line if line >= 0 and (end is None or line < end) else end
        return end

    return stop
