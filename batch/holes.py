"""One hole of one target as a canvas, and its judge.

The hole is drawn in the document as it will be: with the template around it, the holes
before it filled and those after it empty. So the rules for spans and the judge, which
know nothing of templates, apply as they are.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from niello.grammars.catalogue import Language
from niello.infill.canvas import Canvas, StopRule
from niello.infill.context import Context, gather
from niello.infill.judge import Judge
from niello.infill.lexis import tokens
from niello.infill.lines import (
    is_blank,
    lead,
    line_end,
    line_start,
    to_line_feeds,
)
from niello.infill.parse import Node, Parsed, replace
from niello.infill.propose import Options, draw_canvas
from niello.infill.span import Kind, Span, find_span
from niello.infill.stop import is_note, stop_rule

from .targets import Target
from .template import WHOLE

# Tokens the model sees around a target. Far less than at a cursor: computing them is
# nearly all of the time that an expression takes, and what it needs to know is near.
_INLINE = Options(prefix_tokens=512, suffix_tokens=128)
_BLOCK = Options(prefix_tokens=768, suffix_tokens=256)
_LOOK_AROUND = re.compile(r"\(\?[^)]*\)")


class Hole(NamedTuple):
    """A canvas and what judges its text."""

    canvas: Canvas
    judge: Judge
    is_block: bool

    def judged(self, written: str) -> str | None:
        """Return what may stand in the hole, None if nothing is left of it."""
        judged = self.judge.judge(written)
        if judged is None:
            return None
        text = judged.text[self.judge.n_given :]
        # Templates and nodes bring the space around them.
        return text.rstrip() if self.is_block else text.strip()


def draw_hole(
    parsed: Parsed, target: Target, fills: Mapping[int, str], number: int, room: int
) -> Hole:
    """Return the hole of that number, given the text of the holes before it."""
    head = target.template.head(fills, number)
    around = head + target.template.tail(fills, number)
    drawn = replace(parsed, target.start, target.end, around)
    at = target.start + len(head)
    found = find_span(drawn, at)
    is_block = target.template == WHOLE and _is_block(parsed, target)
    span = found._replace(kind="block" if is_block else _inline(found))
    n_given = at - span.start
    stop = stop_rule(drawn, span, n_given)
    if is_note(to_line_feeds(parsed.text[target.start : target.end]), parsed.language):
        stop = _ending_with_line(stop, n_given, drawn.language)
    if span.kind in ("line", "list"):
        enders = _enders(drawn.text[at : line_end(drawn.text, at)], span)
        stop = _ending_at(enders, stop, n_given, drawn.language)
    options = (_BLOCK if is_block else _INLINE)._replace(room=room)
    canvas = draw_canvas(drawn, span, options, n_given)
    # Targets of a file have their prefixes in common, not what follows them.
    context = canvas.context._replace(anchor=None)
    lines = target.shared if span.kind in ("line", "list") else None
    if lines and span.start >= lines[0]:
        context = _among_others(parsed, lines, options)
        beginning = to_line_feeds(drawn.text[lines[0] : span.start])
        context = context._replace(prefix=context.prefix + beginning)
    if span.kind == "string":
        # A model that sees the quotes closed takes the empty string for finished.
        context = context._replace(suffix=context.suffix.lstrip("\"'`"))
    if target.hint:
        # A line of its own above, whatever line the target is on.
        line = f"{span.indent}{target.hint}\n"
        context = context._replace(prefix=context.prefix + line)
    canvas = canvas._replace(context=context, stop=stop)
    judge = Judge(drawn, span, n_given, stop)
    if number == len(target.template.holes) - 1:
        # With all holes filled the file must parse as well as it did before.
        judge.allowed = min(judge.allowed, len(parsed.broken))
    return Hole(canvas, judge, is_block)


def _among_others(parsed: Parsed, lines: tuple[int, int], options: Options) -> Context:
    """Return the context of lines with several targets, the anchor at its end.

    It is the same for all of them, so a model computes it once: what follows the lines
    as well, which stands in front of the lines' own beginning. In it is a comment with
    the lines as they are, since what is behind a target is not seen otherwise.
    """
    start, end = lines
    indent = lead(parsed.text[start:end])
    context = gather(
        parsed,
        Span(start, end, "line", indent),
        options.prefix_tokens,
        options.suffix_tokens,
    )
    prefix = context.prefix
    if parsed.language and (signs := parsed.language.line_comments):
        sign = _LOOK_AROUND.sub("", signs[0])
        old = to_line_feeds(parsed.text[start:end]).split("\n")
        notes = (f"{indent}{sign} {line.removeprefix(indent)}\n" for line in old)
        prefix += "".join(notes)
    return context._replace(prefix=prefix, anchor=len(prefix))


def _is_block(parsed: Parsed, target: Target) -> bool:
    """Tell whether a target is made of statements, on lines of their own."""
    text = parsed.text
    before = text[line_start(text, target.start) : target.start]
    if before.strip() or text[target.end : line_end(text, target.end)].strip():
        return False
    extent = (target.start, target.end)
    around = parsed.captures("spans", *extent)
    blocks = [(node.start, node.end) for node in around if node.name == "block"]
    if any(extent in (block, _within_braces(text, *block)) for block in blocks):
        return True
    if parsed.language is None or parsed.language.layout != "word":
        return False
    bodies = [
        node
        for node in around
        if node.name in ("function", "class", "block")
        and node.start < target.start
        and target.end < node.end
    ]
    # Where words close a block, its statements are no node of their own.
    return bool(bodies) and extent == _statements_of(parsed, bodies[-1])


def _within_braces(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the extent of what is in a block's braces, if it has any."""
    if not text.startswith("{", start) or not text.endswith("}", start, end):
        return start, end
    inner = text[start + 1 : end - 1]
    left = start + 1 + len(inner) - len(inner.lstrip())
    return left, left + len(inner.strip())


def _statements_of(parsed: Parsed, body: Node) -> tuple[int, int]:
    """Return from where to where the statements in a body go."""
    inside = [
        node
        for node in parsed.captures("spans", body.start, body.end)
        if node.name in ("statement", "comment")
        and body.start < node.start
        and node.end < body.end
    ]
    starts, ends = [node.start for node in inside], [node.end for node in inside]
    return min(starts, default=body.start), max(ends, default=body.end)


def _inline(span: Span) -> Kind:
    return "line" if span.kind in ("block", "body") else span.kind


def _enders(rest: str, span: Span) -> str:
    """Return the marks that, outside of brackets, are past the hole."""
    next_mark = rest.lstrip()[:1]
    commas = "," if span.kind == "list" else ""
    return commas + (next_mark if next_mark in tuple(",;:=") else "")


def _ending_at(
    enders: str, stop: StopRule, n_given: int, language: Language | None
) -> StopRule:
    if not enders:
        return stop
    mark = re.compile(rf"(?<![<>=!:])[{re.escape(enders)}](?!=)")

    def stop_at_mark(text: str) -> int | None:
        limit = stop(text)
        own = _first_outside(mark, text, n_given, language)
        return min((end for end in (limit, own) if end is not None), default=None)

    return stop_at_mark


def _ending_with_line(
    stop: StopRule, n_given: int, language: Language | None
) -> StopRule:
    """Return the rule of a comment, behind which nothing belongs to it."""

    def stop_at_line(text: str) -> int | None:
        limit = stop(text)
        for token in tokens(text, language, n_given):
            if token.kind == "newline" and not is_blank(text[n_given : token.start]):
                return token.start if limit is None else min(limit, token.start)
        return limit

    return stop_at_line


def _first_outside(
    mark: re.Pattern[str], text: str, start: int, language: Language | None
) -> int | None:
    """Return where ``mark`` first stands outside of brackets, strings and comments."""
    depth, position = 0, start
    for token in tokens(text, language, start):
        if depth == 0 and (found := mark.search(text, position, token.start)):
            return found.start()
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        position = token.end
    found = mark.search(text, position) if depth == 0 else None
    return None if found is None else found.start()
