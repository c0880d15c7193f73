"""The rules that judge a text for a span, each a pure function of strings.

``written`` is what a filler wrote after the ``given`` text, with LF at its line ends. A
rule returns what is to stay of it, unchanged if the rule has nothing to say.
"""

import re
from collections.abc import Iterable

from niello.grammars.catalogue import Language

from .lexis import tokens, unclosed
from .lines import is_blank, weight, width

# Control tokens of the families of models that fill code, as text. None of them is a
# word of a programming language; a document that spells one may have it in a fill.
_CONTROL = re.compile(
    r"<\|\w[\w▁-]*\|>|<｜[^｜>\n]{1,40}｜>|<(?:fim|file)_\w+>|▁?<EOT>|\[MASK\]"
    r"|<\[(?:fim-\w+|\w+(?:▁\w+)+)\]>|<(?:start|end)_of_turn>|</s>"
)
_ALNUM = 3  # letters and digits that make a line worth comparing
_MARKS = (
    *(("{{", "}}"), ("{%", "%}"), ("**", "**"), ("__", "__"), ("~~", "~~")),
    *(("`", "`"), ("*", "*"), ("_", "_"), ("$", "$")),
)
_FENCE = re.compile(r"^[ \t]*```[\w+#-]*[ \t]*$", re.MULTILINE)
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


def cut_fences(written: str, document: str, language: Language | None) -> str:
    """Take code out of the fence that models for chats put around it.

    Where a document has fences, as pages and notes do, they are text.
    """
    if language is None or language.layout == "flow" or "```" in document:
        return written
    fence = _FENCE.search(written)
    if fence is None or _is_in_literal(written[: fence.start()], language):
        return written
    if not is_blank(written[: fence.start()]):
        return written[: fence.start()]
    inner = written[fence.end() :].removeprefix("\n")
    closing = _FENCE.search(inner)
    return inner if closing is None else inner[: closing.start()]


def _is_in_literal(text: str, language: Language) -> bool:
    """Tell whether a text ends inside of a string or a comment."""
    return any(token.kind == "cut" for token in tokens(text, language))


def join_space(written: str, given: str, after_dot: bool) -> str:
    """Drop the space or line end that a text brings to where one has been typed.

    ``after_dot`` says that a name is wanted, which no space is in front of.
    """
    if given and is_blank(given):
        # A line that is indented already need not be left for one below.
        below = written.lstrip(" \t\n")
        margin = written[: len(written) - len(below)].rpartition("\n")
        return below if margin[1] and margin[2] == given else written
    if not after_dot and not given.endswith((" ", "\t")):
        return written
    return written.lstrip(" \t")


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


def drop_repeats(written: str, given: str = "", rest: str = "") -> str:
    """Keep the first of the same lines written again and again at the end of a text.

    ``rest`` is what follows on the last line; where there is any, the lines are parts
    of one statement, and there is hardly a reason to say a part twice.
    """
    if is_blank(written):
        return written
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
        repeated = n_lines - start - period
        if repeated < period:
            continue
        block = "".join(bodies[start : start + period])
        enough = len(block) >= least and weight(block) > least - 4
        own = _is_closer(block.lstrip("# ")) and not _ends_twice(bodies)
        own = own or _CLOSING_TAG.fullmatch(block) is not None
        if enough and not own:
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
    enough = weight(last) >= least and 2 * len(last) > len(whole)
    return enough and whole.startswith(last)


def _closes_block(line: str) -> bool:
    """Tell whether a line is a closer; tags count where lines are indented at all."""
    tag = line[:1].isspace() and _CLOSING_TAG.fullmatch(line.strip()) is not None
    return tag or _is_closer(line.strip())


def _is_closer(line: str) -> bool:
    """Tell whether a line is a word or signs alone, as what closes a block is."""
    signs = not weight(line) and not line.endswith(",")
    return len(line) > 1 and (line.isalpha() or signs)


def drop_stray_closer(written: str, before: str, rest: str = "") -> str:
    """Drop a closing bracket that ends prose and that its paragraph does not open.

    ``rest``, what follows on the line, may close what is open.
    """
    body = written.rstrip()
    for opener, closer in ("()", "[]", "{}"):
        paragraph = f"{before}{body}".rpartition("\n\n")[2] + rest
        if body.endswith(closer) and paragraph.count(closer) > paragraph.count(opener):
            return body[:-1]
    return written


def drop_stray_mark(written: str, given: str, rest: str) -> str:
    """Drop a mark of a page's text that follows on the line anyway."""
    body, after = written.rstrip(), rest.lstrip()
    for opener, closer in _MARKS:
        if not body.endswith(closer) or not after.startswith(closer):
            continue
        line = given + body + after
        n_closers = line.count(closer)
        spare = n_closers % 2 if opener == closer else n_closers > line.count(opener)
        if spare:
            kept = body[: -len(closer)]
            return kept if after == rest else kept.rstrip()
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
