"""The rules against text that is there already, before the span or behind it.

Each is a pure function of strings, as those of ``rules.py``.
"""

import re
from collections.abc import Sequence

from .lines import is_blank, weight

_CLOSERS = (")", "]", "}")
_QUOTES = ('"', "'", "`")
_ALNUM = 3  # letters and digits that make a line worth comparing
_ASSIGNS = re.compile(r"=\s*\Z|(?<=\S):\s+\Z")  # a line that waits for a value
_ASSIGNMENT = re.compile(r"[\w\])]\s*:?=\s*[^=\s]")
_ALIKE = re.compile(r"\A\s*<|,\Z")  # cells of a table and items of a list often are
_WORDS = re.compile(r"(?<![^\s{(\[;,])(?=\S)")
_NOTES = re.compile(r"#+|//+!?|/\*\*?|\*|--+|;+|%+|[-+>|]|\d+[.)]")
# An item of a list may well be there twice, and so a call or type in its own brackets.
_TWICE = re.compile(r"[,;|]\Z|\A[\w.]+[(\[{<]\Z")
_IN_QUOTES = re.compile(r"[)\]}]+[\"'`]")  # the end of code in a string


def drop_prefix_echo(written: str, given: str, above: Sequence[str]) -> str:
    """Drop a copy of what was typed on the line, or of the lines above, in order."""
    typed = given.strip()
    head = written.lstrip()
    if weight(typed) >= _ALNUM and len(typed) >= 4 and _says(head, typed):
        return head[len(typed) :] if given[-1:].strip() else head[len(typed) :].lstrip()
    waits = _ASSIGNS.search(given) is not None
    for match in _WORDS.finditer(given):
        named = given[match.start() :].rstrip()
        enough = 1 if waits else 2 * _ALNUM
        again = waits or not _TWICE.search(named)
        if again and weight(named) >= enough and _says(head, named):
            whole = waits or given[-1:].isspace()
            return head[len(named) :].lstrip() if whole else head[len(named) :]
        if _opens_note(named, given[match.start() :], head):
            return head[len(named) :].lstrip(" \t")
    lines = written.split("\n")
    bodies = [line.strip() for line in lines]
    if not typed and _copies_above(written, given, above):
        return ""
    for n_lines in range(min(len(lines) - 1, len(above)), 0, -1):
        copied = [line.strip() for line in above[-n_lines:]]
        if bodies[:n_lines] == copied and _tells(copied):
            kept = "\n".join(lines[n_lines:])
            if not is_blank(kept):
                return kept.lstrip(" \t") if given else kept
    return written


def drop_word_echo(written: str, given: str, document: str) -> str:
    """Drop the letters typed of a word that a text begins with as a whole."""
    begun = re.search(r"(?<![\w#'\"`])[^\W\d]\w*\Z", given)
    word = re.match(r"\w+", written)
    if begun is None or word is None or not word[0].startswith(begun[0]):
        return written
    letters = len(begun[0])
    if re.search(rf"\b{begun[0]}{word[0]}\b", document):
        return written
    long = letters >= _ALNUM + (word[0] == begun[0])
    known = word[0] != begun[0] and re.search(rf"\b{word[0]}\b", document)
    return written[letters:] if long or known else written


def _opens_note(named: str, typed: str, head: str) -> bool:
    """Tell whether the sign of a comment or an item is typed and written again."""
    sign = _NOTES.fullmatch(named)
    spaced = typed != named or (sign and len(named) > 1)
    return bool(sign and spaced) and head.startswith((f"{named} ", f"{named}\t"))


def _copies_above(written: str, given: str, above: Sequence[str]) -> bool:
    """Tell whether a text is nothing but the lines above once more."""
    lines = _lines(given + written)
    near = _lines("\n".join(above))[-len(lines) :]
    if not lines or (len(lines) == 1 and _ALIKE.search(lines[0])):
        return False
    enough = weight("".join(lines)) >= 4 * _ALNUM or _tells(lines)
    return lines == near and enough


def _tells(lines: list[str]) -> bool:
    """Tell whether lines say so much that nobody writes them twice in a row.

    Who calls the same twice may mean it, who assigns the same twice does not.
    """
    letters = weight("".join(lines))
    if len(lines) > 1:
        return letters >= 4 * _ALNUM
    assigns = _ASSIGNMENT.search(lines[0]) and not _ALIKE.search(lines[0])
    return letters >= 2 * _ALNUM and bool(assigns)


def _says(head: str, typed: str) -> bool:
    """Tell whether a text starts with what was typed, its last sign being whole."""
    follows = head[len(typed) : len(typed) + 1]
    whole = not follows or typed[-1] not in "=:" or follows not in "=:>~"
    return head.startswith(typed) and whole


def drop_suffix_echo(
    written: str, suffix: str, cut: bool = False, opened: bool = True, given: str = ""
) -> str:
    """Drop a tail that is a copy of what follows, from the first such place on.

    ``cut`` says that the text was ended where it closed what is closed already,
    ``opened`` that a bracket closed next is opened before the span.
    """
    rest = suffix.split("\n", 1)[0].rstrip()
    if not rest and _is_following(written, given, suffix):
        return ""
    below = suffix[len(rest) :].lstrip(" \t")
    following = _lines(below)
    for match in re.finditer(rf"\n|(?={re.escape(rest)})" if rest else r"\n", written):
        kept, tail = written[: match.start()], written[match.start() :]
        if is_blank(kept):
            continue
        if tail.startswith("\n"):
            found = _echoes_lines(kept, tail, following, cut)
            found = found or (cut and _echoes_to_quote(tail, rest, below))
        elif opened and _opened(kept) > 0 and rest.lstrip("\"'`")[:1] in _CLOSERS:
            found = False  # This bracket is the text's own.
        elif rest[0] == ">" and kept.count("<") > kept.count(">"):
            found = False
        elif _IN_QUOTES.match(rest) and is_blank(tail[len(rest) :]):
            found = _opened(kept) <= 0
        else:
            found = _echoes_rest(tail[len(rest) :], rest, suffix)
        if found:
            return kept
    inner, body = _before_closer(rest), written.rstrip()
    if rest.strip() == "|" and body.endswith("|") and body[:-1].strip():
        return body[:-1].rstrip()  # The end of a table's row, or of a block's names.
    telling = cut or re.fullmatch(r"\W+\w.*", inner) or weight(inner) >= _ALNUM
    if inner and inner != rest and body.endswith(inner) and telling:
        return body[: -len(inner)]  # The bracket after it has been cut already.
    quoted = re.match(r"(?:\\.|[^\"'`\\])+(?=[\"'`])", rest)
    spare = quoted and ((cut and len(quoted[0]) > 1) or _opened(body) < 0)
    if quoted and spare and body.endswith(quoted[0]):
        return body[: -len(quoted[0])]  # And so the quote after this.
    return written


def _is_following(written: str, given: str, suffix: str) -> bool:
    """Tell whether a text is nothing but the next lines, at the margin they have."""
    if not is_blank(given) and not is_blank(written.split("\n", 1)[0]):
        return False
    following = _lines(suffix)
    for lines in (_lines(written), _lines(given + written)):
        enough = weight("".join(lines)) >= 2 * _ALNUM
        whole = len(lines) > 1 or lines[:1] == following[:1]
        if enough and whole and _copies(lines, following):
            return True
        if len(lines) > 2 and lines[:2] == following[:2] and enough:
            return True  # It goes on where the document does, but in another way.
    return False


def _echoes_lines(kept: str, tail: str, following: list[str], cut: bool) -> bool:
    """Tell whether lines written are those that follow, and too many for chance."""
    first = tail.lstrip("\n").split("\n", 1)[0].rstrip()
    if first and not any(line.startswith(first) for line in following[:1]):
        return False
    written = _lines(tail)
    if not _copies(written, following):
        return False
    letters = weight("".join(written))
    if written[0] == following[0] and len(written) == 1 and letters < _ALNUM:
        # Brackets alone say little, but what is closed already needs no more of them.
        return len(written[0].strip()) >= 3 and _opened(kept) <= 0
    own = following[0], following[0].rstrip(" ;,)]}")
    if len(written) == 1 and written[0] not in own:
        if cut and letters >= _ALNUM:
            return True
        return letters >= 2 * _ALNUM and 2 * len(written[0]) > len(following[0])
    return letters >= _ALNUM


def _echoes_to_quote(tail: str, rest: str, below: str) -> bool:
    """Tell whether a text cut at a quote copied the line below up to its first."""
    copied = f"{tail}{rest[:1]}".strip("\n")
    told = len(tail.strip()) >= _ALNUM and rest.startswith(_QUOTES)
    return told and below.strip("\n").startswith(copied)


def _echoes_rest(after: str, rest: str, suffix: str) -> bool:
    """Tell whether a copy of the line's rest goes on, if at all, as the suffix does."""
    if is_blank(after):
        return "\n" in after or weight(rest) >= _ALNUM or len(rest) >= 4
    written = _lines(after)
    below = _lines(suffix)[1:]
    enough = (
        weight(rest + "".join(written)) >= _ALNUM or below[: len(written)] == written
    )
    return enough and after.startswith("\n") and _copies(written, below)


def _opened(text: str) -> int:
    return sum((sign in "([{") - (sign in ")]}") for sign in text)


def _before_closer(rest: str) -> str:
    """Return a text up to the first bracket or tag it closes and does not open."""
    depth = 0
    for match in re.finditer(r"(?P<open>[(\[{]|<\w)|(?P<close>[)\]}]|</)", rest):
        depth += 1 if match.lastgroup == "open" else -1
        if depth < 0:
            return rest[: match.start()].rstrip()
    return rest


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if not is_blank(line)]


def _copies(written: list[str], following: list[str]) -> bool:
    """Tell whether the lines written are the first that follow, the last maybe cut."""
    if not written or len(written) > len(following):
        return False
    *whole, last = written
    n_whole = len(whole)
    return whole == following[:n_whole] and following[n_whole].startswith(last)
