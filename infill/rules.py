"""The rules that judge a text for a span, each a pure function of strings.

``written`` is what a filler wrote after the ``given`` text, with LF at its line ends. A
rule returns what is to stay of it, unchanged if the rule has nothing to say.
"""

import re
from collections.abc import Iterable, Sequence

from niello.grammars.catalogue import Language

from .lexis import unclosed
from .lines import is_blank, width

# Control tokens of the families of models that fill code, as text. None of them is a
# word of a programming language; a document that spells one may have it in a fill.
_CONTROL = re.compile(
    r"<\|\w[\w▁-]*\|>|<｜[^｜>\n]{1,40}｜>|<(?:fim|file)_\w+>|▁?<EOT>|\[MASK\]"
    r"|<\[(?:fim-\w+|\w+(?:▁\w+)+)\]>|<(?:start|end)_of_turn>|</s>"
)
_CLOSERS = (")", "]", "}")
_QUOTES = ('"', "'", "`")
_ALNUM = 3  # letters and digits that make a line worth comparing
_ASSIGNS = re.compile(r"=\s*\Z|(?<=\S):\s+\Z")  # a line that waits for a value
_WORDS = re.compile(r"(?<![^\s{(\[;,])(?=\S)")
_IN_QUOTES = re.compile(r"[)\]}]+[\"'`]")  # the end of code in a string
_CLOSING_TAG = re.compile(r"(?:</[\w.:-]*>)+[)};,]*")


def cut_control(written: str, document: str) -> str:
    """End the text where a control token is spelled out."""
    for match in _CONTROL.finditer(written):
        if match[0] in document:
            continue
        before = document + written[: match.start()]
        if match[0] == "</s>" and re.search(r"<s[\s>]", before):
            continue  # Struck-through text of a page.
        return written[: match.start()]
    return written


def drop_prefix_echo(written: str, given: str, above: Sequence[str]) -> str:
    """Drop a copy of what was typed on the line, or of the lines above, in order."""
    typed = given.strip()
    head = written.lstrip()
    if _weight(typed) >= _ALNUM and len(typed) >= 4 and _says(head, typed):
        return head[len(typed) :] if given[-1:].strip() else head[len(typed) :].lstrip()
    for match in _WORDS.finditer(given) if _ASSIGNS.search(given) else ():
        named = given[match.start() :].rstrip()
        if _weight(named) and _says(head, named):
            return head[len(named) :].lstrip()
    lines = written.split("\n")
    bodies = [line.strip() for line in lines]
    for n_lines in range(min(len(lines) - 1, len(above)), 1, -1):
        copied = [line.strip() for line in above[-n_lines:]]
        if bodies[:n_lines] == copied and _weight("".join(copied)) >= 4 * _ALNUM:
            kept = "\n".join(lines[n_lines:])
            if not is_blank(kept):
                return kept.lstrip(" \t") if given else kept
    return written


def _says(head: str, typed: str) -> bool:
    """Tell whether a text starts with what was typed, its last sign being whole."""
    follows = head[len(typed) : len(typed) + 1]
    whole = not follows or typed[-1] not in "=:" or follows not in "=:>~"
    return head.startswith(typed) and whole


def drop_suffix_echo(
    written: str, suffix: str, cut: bool = False, opened: bool = True
) -> str:
    """Drop a tail that is a copy of what follows, from the first such place on.

    ``cut`` says that the text was ended where it closed what is closed already,
    ``opened`` that a bracket closed next is opened before the span.
    """
    rest = suffix.split("\n", 1)[0].rstrip()
    for match in re.finditer(rf"\n|(?={re.escape(rest)})" if rest else r"\n", written):
        kept, tail = written[: match.start()], written[match.start() :]
        if is_blank(kept):
            continue
        if tail.startswith("\n"):
            below = suffix[len(rest) :].lstrip(" \t")
            found = _echoes_lines(kept, tail, below, cut)
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
    telling = cut or re.fullmatch(r"\W+\w.*", inner) or _weight(inner) >= _ALNUM
    if inner and inner != rest and body.endswith(inner) and telling:
        return body[: -len(inner)]  # The bracket after it has been cut already.
    quoted = re.match(r"(?:\\.|[^\"'`\\])+(?=[\"'`])", rest)
    spare = quoted and ((cut and len(quoted[0]) > 1) or _opened(body) < 0)
    if quoted and spare and body.endswith(quoted[0]):
        return body[: -len(quoted[0])]  # And so the quote after this.
    return written


def cut_headers(
    written: str, given: str, below: Iterable[str], language: Language | None
) -> str:
    """Cut what opens a block last if no block follows, which parsers forgive.

    ``below`` are the lines behind the span. A text that is nothing else stays: whoever
    takes it goes on with the block.
    """
    header = language.header if language else ""
    if not language or not header or not written.rstrip().endswith(header):
        return written
    if unclosed(given + written, language):
        return written
    note = re.compile(rf"\s*(?:{'|'.join(language.line_comments)}|$)")
    following = next((line for line in below if not note.match(line)), "")
    if following.lstrip().startswith(language.continues):
        return written  # It goes on with what is opened here.
    while True:
        body = written.rstrip()
        kept, later, last = body.rpartition("\n")
        is_header = body.endswith(header) and not note.match(last)
        if not is_header or width(last) < width(following):
            return written
        if not later or is_blank(given + kept):
            return written
        written = kept


def _echoes_lines(kept: str, tail: str, below: str, cut: bool) -> bool:
    """Tell whether lines written are those below, and too many for chance."""
    written, following = _lines(tail), _lines(below)
    if not _copies(written, following):
        return False
    weight = _weight("".join(written))
    if written[0] == following[0] and len(written) == 1 and weight < _ALNUM:
        # Brackets alone say little, but what is closed already needs no more of them.
        return len(written[0].strip()) >= 3 and _opened(kept) <= 0
    own = following[0], following[0].rstrip(" ;,)]}")
    if len(written) == 1 and written[0] not in own:
        if cut and weight >= _ALNUM:
            return True
        return weight >= 2 * _ALNUM and 2 * len(written[0]) > len(following[0])
    return weight >= _ALNUM


def _echoes_to_quote(tail: str, rest: str, below: str) -> bool:
    """Tell whether a text cut at a quote copied the line below up to its first."""
    copied = f"{tail}{rest[:1]}".strip("\n")
    told = len(tail.strip()) >= _ALNUM and rest.startswith(_QUOTES)
    return told and below.strip("\n").startswith(copied)


def _echoes_rest(after: str, rest: str, suffix: str) -> bool:
    """Tell whether a copy of the line's rest goes on, if at all, as the suffix does."""
    if is_blank(after):
        return "\n" in after or _weight(rest) >= _ALNUM or len(rest) >= 4
    written = _lines(after)
    below = _lines(suffix)[1:]
    enough = (
        _weight(rest + "".join(written)) >= _ALNUM or below[: len(written)] == written
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


def drop_repeats(written: str, given: str = "", rest: str = "") -> str:
    """Keep the first of the same lines written again and again at the end of a text.

    ``rest`` is what follows on the last line; where there is any, the lines are parts
    of one statement, and there is hardly a reason to say a part twice.
    """
    lines = (given + written).split("\n")
    while len(lines) > 1 and lines[-1] == lines[-2] and _closes_block(lines[-1]):
        lines.pop()  # What closes a block is never said twice at one margin.
    bodies = [line.strip() for line in lines]
    n_lines = len(lines)
    least = 3 if rest.strip() else 5
    for period in range(1, n_lines // 2 + 1):
        start = n_lines - period
        while start > 0 and bodies[start - 1] == bodies[start - 1 + period]:
            start -= 1
        block = "".join(bodies[start : start + period])
        repeated = n_lines - start - period
        enough = len(block) >= least and _weight(block) > least - 4
        own = _is_closer(block.lstrip("# ")) and not _ends_twice(bodies)
        own = own or _CLOSING_TAG.fullmatch(block) is not None
        if repeated >= period and enough and not own:
            return "\n".join(lines[: start + period])[len(given) :]
    # The last time may have been cut short, as by a bracket that was there already.
    if n_lines > 1 and _is_cut_copy(*bodies[-2:]):
        lines.pop()
    return "\n".join(lines)[len(given) :]


def _ends_twice(bodies: list[str]) -> bool:
    """Tell whether the preprocessor's lines at the end close more than they open."""
    depth = sum(bool(re.match(r"#\s*(?:if|region)", line)) for line in bodies)
    n_ends = sum(bool(re.match(r"#\s*end", line)) for line in bodies)
    return bodies[-1].startswith("#") and n_ends > depth


def _is_cut_copy(whole: str, last: str) -> bool:
    """Tell whether a line is the one above again, cut short."""
    closers = whole[len(last) :].rstrip(";,")
    least = _ALNUM if closers and not closers.strip(")]}") else 2 * _ALNUM
    if _CLOSING_TAG.fullmatch(last):
        return False
    enough = _weight(last) >= least and 2 * len(last) > len(whole)
    return enough and whole.startswith(last)


def _closes_block(line: str) -> bool:
    """Tell whether a line is a closer; tags count where lines are indented at all."""
    tag = line[:1].isspace() and _CLOSING_TAG.fullmatch(line.strip()) is not None
    return tag or _is_closer(line.strip())


def _is_closer(line: str) -> bool:
    """Tell whether a line is a word or signs alone, as what closes a block is."""
    signs = not _weight(line) and not line.endswith(",")
    return len(line) > 1 and (line.isalpha() or signs)


def drop_stray_closer(written: str, before: str) -> str:
    """Drop a closing bracket that ends prose and that its paragraph does not open."""
    body = written.rstrip()
    for opener, closer in ("()", "[]", "{}"):
        paragraph = f"{before}{body}".rpartition("\n\n")[2]
        if body.endswith(closer) and paragraph.count(closer) > paragraph.count(opener):
            return body[:-1]
    return written


def trim_end(written: str, suffix: str, cut: bool = False) -> str:
    """Drop white space at the end that the suffix has already or that pads.

    ``cut`` says that the text went on and was cut, so its last white space led to what
    was cut off and not to the suffix.
    """
    kept = written.rstrip()
    tail = written[len(kept) :]
    breaks = tail.count("\n")
    if not breaks and suffix.startswith((" ", "\t")):
        return kept
    if suffix and not suffix.startswith("\n"):
        joins = bool(re.match(r"(?:[ \t]{2,})?\w", suffix))
        if cut and not joins and not (breaks and written.startswith("\n")):
            return kept if breaks else written
        return kept + "\n" if breaks > 2 else written
    if suffix or cut:
        return kept  # The suffix has the line's own end.
    return kept + "\n" * min(breaks, 1)


def set_line_ends(text: str, line_break: str) -> str:
    """Write LF line ends as the file does."""
    return text.replace("\n", line_break)


def _weight(text: str) -> int:
    return sum(map(str.isalnum, text))
