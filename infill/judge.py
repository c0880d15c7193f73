"""Whether a text may stand in a span: the rules in their order, then the parser.

The parser has the last word: with the text in the span the document has no more ERROR
or MISSING nodes than it had before, and none near the text that was not there without
the whole span.
"""

import re
from itertools import islice
from typing import NamedTuple

from . import echo, margins, rules
from .canvas import StopRule
from .lexis import breaks_off, tokens
from .lines import (
    is_blank,
    line_below,
    line_break,
    line_end,
    line_start,
    lines_after,
    lines_before,
    to_line_feeds,
    width,
)
from .parse import Parsed, parse_again, replace
from .place import find_place
from .repairs import drop_comma, drop_rest, repairs
from .span import Span, enclosing, expected_indent, step
from .stop import closed_too_much

_MOST_ROUNDS = 5
_NEAR = 4000  # code points after a span that a text is compared with


class Judged(NamedTuple):
    """A text that may stand in its span, or what the parser had against it."""

    text: str  # the whole span's, line ends of the file
    verdict: tuple[str, ...]  # the rules that changed it, in order
    fits: bool
    broken: tuple[int, int] = (0, 0)  # code points of ``text`` that do not parse


class Judge:
    """Judges texts for one span of one document."""

    def __init__(
        self, parsed: Parsed, span: Span, n_given: int, stop: StopRule
    ) -> None:
        """Gather once what every text for the span is held against."""
        text = parsed.text
        self.parsed, self.span, self.n_given, self.stop = parsed, span, n_given, stop
        self.given = text[span.start : span.start + n_given]
        self.suffix = to_line_feeds(text[span.end : span.end + _NEAR])
        self.near = (
            to_line_feeds(text[max(0, span.start - _NEAR) : span.start]) + self.suffix
        )
        self.place = find_place(parsed, span, n_given)
        self.line_break = line_break(text, span.start)
        self.above = list(islice(lines_before(text, span.start), 8))[::-1]
        first = parsed.to_offset(parsed.ranges[0][0]) if parsed.ranges else 0
        without = replace(parsed, max(span.start, first), span.end, "")
        self.allowed = min(len(without.broken), len(parsed.broken))
        self.most = len(replace(parsed, span.start + n_given, span.end, "").broken)

    def judge(self, written: str, cut: bool = False) -> Judged | None:
        """Return the text that may stand, None if nothing of it is left.

        ``cut`` says that the stop rule has ended the text, not the model. A repair can
        bring up what a rule is for, so the rules are asked until they change nothing.
        """
        judged = self._judge_once(to_line_feeds(written), cut)
        for _ in range(_MOST_ROUNDS):
            if judged is None or not judged.fits:
                return judged
            kept = to_line_feeds(judged.text[self.n_given :])
            again = self._judge_once(kept, False)
            if again is None or again.text == judged.text:
                return again and judged
            verdict = dict.fromkeys((*judged.verdict, *again.verdict))
            judged = again._replace(verdict=tuple(verdict))
        return None

    def _judge_once(self, written: str, cut: bool) -> Judged | None:
        verdict = ["end"] if cut else []

        def apply(name: str, kept: str) -> str:
            if kept != written:
                verdict.append(name)
            return kept

        written = apply("control", self._cut_control(written))
        written = apply("fence", self._cut_fences(written))
        written = apply("prefix", self._drop_prefix_echo(written))
        written = apply("end", self._cut_at_end(written))
        cut = cut or "end" in verdict
        opened = bool(self.place.frames) and self.place.frames[-1].given
        kept = echo.drop_suffix_echo(written, self.suffix, cut, opened, self.given)
        written = apply("suffix", kept)
        written = apply("repeats", self._drop_repeats(written))
        written = apply("indentation", self._set_indentation(written))
        written = apply("brackets", self._balance(written))
        written = apply("headers", self._cut_headers(written))
        cut = cut or not {"brackets", "headers"}.isdisjoint(verdict)
        written = rules.trim_end(written, self.suffix, cut)
        written = apply("comma", drop_comma(written, self.suffix, self._n_broken))
        written = apply("suffix", drop_rest(written, self.place.rest, self._n_broken))
        if is_blank(written):
            return None
        return self._parse(written, tuple(verdict))

    def _parse(self, written: str, verdict: tuple[str, ...]) -> Judged | None:
        if self.fits(written):
            return Judged(self._whole(written), verdict, True)
        for name, other in self._repairs(written):
            if not is_blank(other) and self.fits(other):
                return Judged(self._whole(other), (*verdict, name), True)
        return Judged(self._whole(written), verdict, False, self._broken(written))

    def fits(self, written: str) -> bool:
        """Tell whether the document parses no worse with this text in the span."""
        if self.parsed.tree is None:
            return True
        filled = self._fill(written)
        end = self.span.start + len(self._whole(written))
        if self._is_worse(filled, end):
            filled = parse_again(filled)
            if self._is_worse(filled, end):
                return False
        return not self._swallows(filled, end) and not self._breaks_off(filled, written)

    def _is_worse(self, filled: Parsed, end: int) -> bool:
        if filled.tree is None or len(filled.broken) > self.most:
            return True
        return len(filled.broken) > self.allowed and any(
            node.start <= end and node.end >= self.span.start for node in filled.broken
        )

    def _swallows(self, filled: Parsed, end: int) -> bool:
        """Tell whether a string or comment of the text runs on over what follows."""
        if self.span.kind in ("string", "comment"):
            return False
        text = self.parsed.text
        after = text[self.span.end :]
        first = self.span.end + len(after) - len(after.lstrip())
        if first == len(text):
            return False
        last = line_end(text, first)
        for offset, names in ((first + 1, ("comment",)), (last, ("string", "comment"))):
            inside = enclosing(filled, end + offset - self.span.end, (*names, "code"))
            if inside is None or inside.name == "code" or inside.start >= end:
                continue
            if enclosing(self.parsed, offset, names) is None:
                return True
        return False

    def _breaks_off(self, filled: Parsed, written: str) -> bool:
        """Tell whether a string that starts in the text has no end on its last line."""
        if self.span.kind in ("string", "comment") or not filled.broken:
            return False
        language, n_written = self.parsed.language, self.n_given + len(written)
        line = self.given + written + self.suffix.split("\n", 1)[0]
        for token in tokens(line + "\n", language, self.place.lexed_from):
            inside = self.n_given <= token.start < n_written and token.end >= len(line)
            if not inside or not breaks_off(token, language):
                continue
            whole = self._whole(written[: token.start - self.n_given])
            offset = self.span.start + len(whole)
            leaf = filled.leaf(offset)  # Prose has quotes that are none.
            told = leaf is not None and (leaf.start == offset or leaf.name == "ERROR")
            return told and any(node.end >= offset for node in filled.broken)
        return False

    def _repairs(self, written: str) -> list[tuple[str, str]]:
        rest = self.suffix.split("\n", 1)[0]
        tries = repairs(written, self.given, rest, self.parsed.language)
        if self._is_on_own_line():
            expected = self._neighbours().expected
            columns = width(expected)
            indented = margins.set_first_line(
                written, self.given, expected, columns, columns
            )
            tries.insert(0, ("indentation", indented))
        return tries

    def _broken(self, written: str) -> tuple[int, int]:
        """Return the part of the whole text that the parser could not read."""
        whole = self._whole(written)
        filled = self._fill(written)
        for node in filled.broken:
            start = max(node.start - self.span.start, self.n_given)
            end = min(node.end - self.span.start, len(whole))
            if start < len(whole) and end >= start:
                return start, max(end, start)
        return len(whole), len(whole)

    def _n_broken(self, written: str) -> int:
        return len(self._fill(written).broken)

    def _fill(self, written: str) -> Parsed:
        text = rules.set_line_ends(written, self.line_break)
        start = self.span.start + self.n_given
        return replace(self.parsed, start, self.span.end, text)

    def _whole(self, written: str) -> str:
        return self.given + rules.set_line_ends(written, self.line_break)

    def _cut_control(self, written: str) -> str:
        return rules.cut_control(written, self.near + self.given)

    def _cut_at_end(self, written: str) -> str:
        end = self.stop(self.given + written)
        return written if end is None else written[: max(0, end - self.n_given)]

    def _cut_fences(self, written: str) -> str:
        if self.span.kind in ("string", "comment"):
            return written
        return rules.cut_fences(written, self.near + self.given, self.parsed.language)

    def _drop_prefix_echo(self, written: str) -> str:
        written = echo.drop_prefix_echo(written, self.given, self.above)
        if self.span.kind == "string":
            return written
        written = rules.join_space(written, self.given, self._follows_dot(written))
        return echo.drop_word_echo(written, self.given, self.near)

    def _follows_dot(self, written: str) -> bool:
        """Tell whether the name after a dot is written with a space in front."""
        if self.span.kind == "comment" or not re.match(r"[ \t]+\w", written):
            return False
        dot = self.parsed.leaf(self.span.start + self.n_given - 1)
        return dot is not None and dot.name in (".", "?.", "::")

    def _drop_repeats(self, written: str) -> str:
        return rules.drop_repeats(written, self.given, self.place.rest)

    def _balance(self, written: str) -> str:
        if self.span.kind in ("string", "comment"):
            return written
        end = closed_too_much(self.place, self.given + written)
        if end is not None:
            written = written[: max(0, end - self.n_given)]
        language = self.parsed.language
        if language is None or len(language.brackets) == 3:
            return written
        before = (self.near[: -len(self.suffix) or None] + self.given)[-2000:]
        before, rest = before.rpartition("\n\n")[2], self.place.rest
        written = rules.drop_stray_mark(written, self.given, rest)
        return rules.drop_stray_closer(written, before, rest)

    def _cut_headers(self, written: str) -> str:
        if self.span.kind in ("string", "comment") or not is_blank(self.place.rest):
            return written
        below = lines_after(self.parsed.text, self.span.end)
        return rules.cut_headers(written, self.given, below, self.parsed.language)

    def _set_indentation(self, written: str) -> str:
        language = self.parsed.language
        if language is None or language.layout != "flow":
            near = f"{self.near}\n{self.given}|"
            styled = margins.set_indent_style(written, step(self.parsed), near)
            written = margins.keep_strings(styled, written, language)
        if not self._is_on_own_line():
            return written
        written = margins.set_margin(
            written,
            self.given,
            self._neighbours(),
            self.parsed.language,
            self._is_in_definition(),
        )
        if any(
            "\n" in token.text[:-1] for token in tokens(written, self.parsed.language)
        ):
            return written  # The lines of a string are nobody's to move.
        return margins.set_step(written, self.given, self.near)

    def _is_in_definition(self) -> bool:
        inside = enclosing(self.parsed, self.span.end, ("function", "class"))
        return inside is not None and inside.name == "function"

    def _is_on_own_line(self) -> bool:
        rest = self.suffix.split("\n", 1)[0]
        blank = is_blank(self.given) and is_blank(rest)
        flows = bool(self.place.frames) and self.place.frames[-1].flows
        return blank and not flows and self.span.kind in ("block", "body")

    def _neighbours(self) -> margins.Neighbours:
        text = self.parsed.text
        above = next((line for line in reversed(self.above) if line.strip()), "")
        below = line_below(text, self.span.end)
        expected = expected_indent(self.parsed, line_start(text, self.span.start))
        return margins.Neighbours(above, below, expected)
