"""From masks to edits: each place is filled in turn and seen by those that follow."""

from collections.abc import Sequence
from typing import NamedTuple

from niello.grammars.catalogue import Language
from niello.infill.canvas import Canvas, Draws, Fill, Filler, StopFlag, StopRule
from niello.infill.lines import lead, line_start
from niello.infill.parse import Parsed, replace
from niello.infill.propose import Options, propose, propose_in
from niello.infill.select import node_span
from niello.infill.snapshot import Snapshot

from .masks import Mask


class Edit(NamedTuple):
    """``[start, end)`` of the document as it was becomes ``text``."""

    start: int
    end: int
    text: str


class MaskFilling:
    """The masks of one text, filled one after the other from its start to its end.

    Each step is a job of its own, so that somebody who types does not wait for all.
    """

    def __init__(
        self,
        parsed: Parsed,
        masks: Sequence[Mask],
        first: int = 0,
        extra: str = "",
    ) -> None:
        """Begin with none filled.

        ``first`` is where the document starts in the text, ``extra`` text of others.
        """
        self.edits: list[Edit] = []
        self._first = first
        self._extra = extra
        self._parsed = parsed
        self._left = sorted(masks)
        self._shift = 0  # code points that the edits so far have added

    @property
    def done(self) -> bool:
        """Whether every mask has had its turn."""
        return not self._left

    def step(self, filler: Filler, options: Options, stop: StopFlag) -> None:
        """Fill the next mask; a place that finds no fill stays as it is."""
        mask = self._left.pop(0)
        start, end = mask.start + self._shift, mask.end + self._shift
        held = _Held(filler, mask, self._parsed.language)
        filled = _fill(self._parsed, mask, start, end, held, options, stop, self._extra)
        if filled is not None and filled != self._parsed.text[start:end]:
            self._parsed = replace(self._parsed, start, end, filled)
            self._shift += len(filled) - (end - start)
            first = self._first
            self.edits.append(Edit(mask.start - first, mask.end - first, filled))


def _fill(
    parsed: Parsed,
    mask: Mask,
    start: int,
    end: int,
    held: Filler,
    options: Options,
    stop: StopFlag,
    extra: str,
) -> str | None:
    if mask.whole:
        span = node_span(parsed, start, end)
        found = propose_in(parsed, span, held, options, stop, extra=extra)
        return found[0].text if found else None
    draft = replace(parsed, start, end, mask.lead + mask.tail)
    cursor = start + len(mask.lead)
    snapshot = Snapshot("", 0, parsed.name, draft.text)
    for candidate in propose(
        snapshot, cursor, held, options, stop, parsed=draft, extra=extra
    ):
        given = draft.text[candidate.span.start : cursor]
        if candidate.span.end == cursor and candidate.text.startswith(given):
            return mask.lead + candidate.text[len(given) :] + mask.tail
    return None


class _Held:
    """A filler that keeps to a mask's own ends and sees its hint."""

    def __init__(self, filler: Filler, mask: Mask, language: Language | None) -> None:
        self._filler = filler
        self._mask = mask
        self._language = language

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill with the mask's rules added."""
        return self._filler.fill([self._hold(each) for each in canvases], draws, stop)

    def _hold(self, canvas: Canvas) -> Canvas:
        if self._mask.ends:
            rule = ending(canvas.stop, len(canvas.given), self._mask.ends)
            canvas = canvas._replace(stop=rule)
        if self._mask.hint:
            prefix = canvas.context.prefix
            at = line_start(prefix, len(prefix))
            comment = lead(prefix[at:]) + comment_of(self._mask.hint, self._language)
            prefix = f"{prefix[:at]}{comment}\n{prefix[at:]}"
            canvas = canvas._replace(context=canvas.context._replace(prefix=prefix))
        return canvas


def ending(rule: StopRule, n_given: int, ends: str) -> StopRule:
    """Return a rule that also ends before ``ends`` outside of the fill's brackets."""

    def stop(text: str) -> int | None:
        found = [each for each in (rule(text), _end(text, n_given, ends)) if each]
        return min(found, default=None)

    return stop


def _end(text: str, start: int, ends: str) -> int | None:
    depth = 0
    for at in range(start, len(text)):
        character = text[at]
        begun = not text[start:at].isspace() and at > start
        if depth == 0 and begun and character in ends + "\n":
            return at
        if character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and text[at - 1] not in "=-"):
            if depth == 0:
                return at
            depth -= 1
    return None


def comment_of(text: str, language: Language | None) -> str:
    """Return ``text`` as a one-line comment."""
    line = " ".join(text.split())
    if language is not None and language.line_comments:
        return f"{language.line_comments[0]} {line}"
    if language is not None and language.block_comment:
        return f"{language.block_comment[0]} {line} {language.block_comment[1]}"
    return f"# {line}"
