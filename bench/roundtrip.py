"""Round trips over real files: delete a node, give its text back, compare the file.

The filler of these measurements returns what was deleted, alone or with what models add
to it, so that every difference is a fault of span, stop rule or judge.
"""

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from niello.grammars.catalogue import find_language, language_of
from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.lexis import PAIRS
from niello.infill.parse import Node, Parsed, parse
from niello.infill.propose import Candidate, Options, propose
from niello.infill.snapshot import Snapshot
from niello.infill.span import find_span

RULES = ("plain", "copy", "lines", "bracket", "repeat", "crlf")
"""What is given back: the text, followed by the text after it, by the next three lines,
by a stray bracket, by its own last line; and LF text into a file with CRLF."""

_MOST_DELETED = 3000
_CHUNK = 5  # code points a stop rule sees more with each step, as of a token
_CAPTURES = ("statement", "expression", "string", "comment", "list", "block")


class Trip(NamedTuple):
    """One deletion in one file."""

    path: Path
    language: str
    start: int
    end: int
    capture: str


class Outcome(NamedTuple):
    """What came back of a trip under one rule."""

    trip: Trip
    rule: str
    same: bool
    expected: str
    found: str
    written: str


class Spoiled(NamedTuple):
    """What became of a wrong text: the ERROR and MISSING nodes without and with it."""

    trip: Trip
    written: str
    found: str
    n_before: int
    n_after: int
    shown: bool


class Echo:
    """A filler that writes one text, a few code points at a time."""

    def __init__(self, text: str, chunk: int = _CHUNK) -> None:
        """Write ``text`` into whatever canvas comes."""
        self.text = text
        self.chunk = chunk

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas with the text, as far as its stop rule lets it."""
        return [[self._fill(canvas)] for canvas in canvases]

    def _fill(self, canvas: Canvas) -> Fill:
        n_given = len(canvas.given)
        step = self.chunk if len(self.text) < 800 else len(self.text)
        for length in range(step, len(self.text) + step, step):
            end = canvas.stop(canvas.given + self.text[:length])
            if end is not None:
                return Fill(self.text[: max(0, end - n_given)], 0.0, 1, "span")
        return Fill(self.text, 0.0, 1, "end")


def read(path: Path) -> str | None:
    """Return a file's text without its mark, None if it is not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def pick(path: Path, rng: random.Random, n_trips: int) -> list[Trip]:
    """Return random deletions of a file that parses around them."""
    text = read(path)
    if text is None or not text.strip():
        return []
    language = language_of(path)
    parsed = parse(text, language)
    if parsed.tree is None:
        return []
    nodes = [
        node
        for node in parsed.captures("spans", 0, len(text))
        if node.name in _CAPTURES and not _is_broken(parsed, node)
    ]
    notes = {(node.start, node.end) for node in nodes if node.name == "comment"}
    nodes = [
        node
        for node in nodes
        if node.name == "comment" or (node.start, node.end) not in notes
    ]
    by_capture = {
        name: [node for node in nodes if node.name == name] for name in _CAPTURES
    }
    names = [name for name, found in by_capture.items() if found]
    trips: list[Trip] = []
    for _ in range(n_trips * 4 if names else 0):
        node = rng.choice(by_capture[rng.choice(names)])
        start, end = _trimmed(text, *_inner(text, node))
        if 0 < end - start <= _MOST_DELETED and len(trips) < n_trips:
            trips.append(Trip(path, language, start, end, node.name))
    return trips


def _is_broken(parsed: Parsed, node: Node) -> bool:
    """Tell whether anything on the node's lines does not parse."""
    start = parsed.text.rfind("\n", 0, node.start) + 1
    end = parsed.text.find("\n", node.end)
    end = len(parsed.text) if end < 0 else end
    return any(found.start <= end and found.end >= start for found in parsed.broken)


def _inner(text: str, node: Node) -> tuple[int, int]:
    """Return what is deleted: a list or a block loses what is between its brackets."""
    bracketed = text[node.start] in "([{" and text[node.end - 1] in ")]}"
    if node.name in ("list", "block") and bracketed:
        return node.start + 1, node.end - 1
    return node.start, node.end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())


def play(trip: Trip) -> Iterator[Outcome]:
    """Yield the outcome of a trip under each rule that means something for it."""
    text = read(trip.path)
    assert text is not None
    old = parse(text, trip.language)
    for rule in RULES:
        whole, start, end = text, trip.start, trip.end
        if rule == "crlf":
            if "\r" in text:
                continue
            start += text.count("\n", 0, start)
            end += text.count("\n", 0, trip.end)
            whole = text.replace("\n", "\r\n")
        deleted = whole[start:end].replace("\r\n", "\n")
        before, after = whole[:start], whole[end:]
        added = _added(rule, before, deleted, after, trip)
        if added is None:
            continue
        old = parse(before + after, trip.language, old)
        if rule in ("bracket", "repeat") and _is_in_literal(old, start):
            continue  # In a string every text is right.
        candidate = ask(old, start, deleted + added)
        found = apply(before + after, candidate)
        yield Outcome(trip, rule, found == whole, whole, found, deleted + added)


def _added(rule: str, before: str, deleted: str, after: str, trip: Trip) -> str | None:
    """Return what a model adds under a rule, None if nothing that is wrong."""
    before = before.replace("\r\n", "\n")
    after = after.replace("\r\n", "\n")
    rest, _, below = after.partition("\n")
    if rule in ("plain", "crlf"):
        return ""
    if trip.capture == "comment":
        return None  # In a comment every text is a comment.
    if rule == "bracket":
        # On a line of its own where the text may end in a comment.
        gap = "\n" if re.search(r"(//|#|--|/\*)[^\n]*\Z", deleted) else ""
        return gap + random.Random(trip.start).choice(_closers(trip.language))
    if rule == "repeat":
        return "\n" + (before + deleted).rpartition("\n")[2]
    lines = [line for line in below.split("\n") if line.strip()][:3]
    if not lines:
        return None
    if rule == "lines":
        return "\n" + "\n".join(lines)
    n_lines = 1 + below[: below.index(lines[-1])].count("\n")
    return rest + "\n" + "\n".join(below.split("\n")[:n_lines])


def _is_in_literal(parsed: Parsed, cursor: int) -> bool:
    return find_span(parsed, cursor).kind in ("string", "comment")


def spoil(trip: Trip, others: Sequence[str], rng: random.Random) -> Spoiled:
    """Fill a trip with wrong text; count what does not parse before and after.

    Both counts come of parses from nothing, by the outer language of the file.
    """
    text = read(trip.path)
    assert text is not None
    before, after = text[: trip.start], text[trip.end :]
    deleted = text[trip.start : trip.end].replace("\r\n", "\n")
    wrong = _wrong(deleted, rng.choice(others), rng)
    parsed = parse(before + after, trip.language)
    candidate = ask(parsed, trip.start, wrong, len(wrong) or 1)
    if candidate is None:
        return Spoiled(trip, wrong, before + after, 0, 0, False)
    left = parse(apply(parsed.text, candidate._replace(text="")), trip.language)
    found = parse(apply(parsed.text, candidate), trip.language)
    return Spoiled(trip, wrong, found.text, len(left.broken), len(found.broken), True)


def _wrong(deleted: str, other: str, rng: random.Random) -> str:
    """Return the text of another place, or this one cut, shuffled or spoilt."""
    kind = rng.randrange(5)
    if kind == 0:
        return other
    if kind == 1:
        return deleted[: rng.randrange(len(deleted))]
    if kind == 2:
        words = re.findall(r"\w+|\s+|[^\w\s]", deleted)
        rng.shuffle(words)
        return "".join(words)
    place = rng.randrange(len(deleted) + 1)
    if kind == 3:
        return deleted[:place] + rng.choice("()[]{}\"'`;:,=<>#\\\n") + deleted[place:]
    return deleted[:place] + other + deleted[place:]


def _closers(name: str) -> list[str]:
    """Return the brackets of which one too many is wrong in a language."""
    language = find_language(name)
    known = language.brackets if language else "([{"
    return ["</div>"] if known == "<" else [PAIRS[sign] for sign in known or "([{"]


def ask(
    parsed: Parsed, cursor: int, written: str, chunk: int = _CHUNK
) -> Candidate | None:
    """Propose at a cursor with a filler that writes a given text."""
    snapshot = Snapshot("file:///trip", 1, parsed.name, parsed.text)
    found = propose(snapshot, cursor, Echo(written, chunk), Options(), parsed=parsed)
    return found[0] if found else None


def apply(text: str, candidate: Candidate | None) -> str:
    """Return the text with a candidate in its span."""
    if candidate is None:
        return text
    span = candidate.span
    return text[: span.start] + candidate.text + text[span.end :]
