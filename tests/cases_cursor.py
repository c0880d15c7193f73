"""Runs cases of kind ``cursor``: open a file, ask once, hold the answer to the checks.

Asks the core in this process, with a filler that writes the case's model output, at the
cursor and where the case's class says so at more places; and the real server once.
"""

import re
import time
from pathlib import Path

from cases import Case
from cursor_server import answer, apply, show
from filling import Stub

from niello.grammars.catalogue import language_of
from niello.infill.lexis import unclosed, unopened
from niello.infill.lines import to_line_feeds
from niello.infill.parse import parse
from niello.infill.propose import Candidate, Options, propose, propose_in
from niello.infill.select import find_selection
from niello.infill.snapshot import Snapshot

BOM = b"\xef\xbb\xbf"
BIDI = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


class Asked:
    """One request at one place, with what came back."""

    def __init__(self, case: Case, text: str, line: int, character: int) -> None:
        self.text = text
        self.cursor = offset_at(text, line, character)
        self.stub = Stub(case.model_outputs[0])
        language = language_of(Path(case.table["input"])) or case.language
        started = time.monotonic()
        parsed = parse(text, language)
        if case.table["request"] == "codeAction":
            span = find_selection(parsed, self.cursor, self.cursor)
            found = propose_in(parsed, span, self.stub, Options())
        else:
            snapshot = Snapshot("file:///case", 1, language, text)
            found = propose(snapshot, self.cursor, self.stub, Options(), parsed=parsed)
        self.seconds = time.monotonic() - started
        self.candidate: Candidate | None = found[0] if found else None

    @property
    def result(self) -> str:
        if self.candidate is None:
            return self.text
        span = self.candidate.span
        return self.text[: span.start] + self.candidate.text + self.text[span.end :]

    @property
    def fill(self) -> str:
        """What the candidate writes after the cursor."""
        assert self.candidate is not None
        return self.candidate.text[max(0, self.cursor - self.candidate.span.start) :]


def run(case: Case) -> None:
    """Ask at the case's cursor, and where its class says so at more places."""
    data = case.input.read_bytes()
    marked = data.startswith(BOM)
    text = data.removeprefix(BOM).decode("utf-8", "surrogateescape")
    asked = Asked(case, text, case.line, case.character)
    for check in case.checks:
        name, _, argument = check.partition("=")
        name = name.removesuffix("<")
        CHECKS.get(name, unchecked)(case, asked, argument)
    if case.expected is not None:
        mark = BOM if marked else b""
        same = mark + asked.result.encode("utf-8", "surrogateescape") == case.expected
        assert same or (case.accept_empty and asked.candidate is None), (
            asked.result,
            case.expected.decode("utf-8", "replace"),
        )
    check_server(case, asked, mark_of=BOM if marked else b"")
    for line, character in more_places(case, text):
        held = Asked(case, text, line, character)
        limit = seconds_of(case)
        assert limit is None or held.seconds <= limit, (line, character)


def check_server(case: Case, asked: Asked, mark_of: bytes) -> None:
    """Hold the server's answer against what the core gave, and the expected file."""
    language = case.language or language_of(Path(case.table["input"]))
    edits = answer(case, asked.text, language)
    result = apply(asked.text, edits)
    if case.expected is not None and (edits or not case.accept_empty):
        found = mark_of + result.encode("utf-8", "surrogateescape")
        assert found == case.expected, show(edits)
    if "range_single_line" in case.checks:
        for edit in edits:
            assert edit["range"]["start"]["line"] == edit["range"]["end"]["line"]
    for check in case.checks:
        name, _, argument = check.partition("=")
        if name == "span_within_lines":
            first, last = map(int, argument.split(":"))
            for edit in edits:
                assert first <= edit["range"]["start"]["line"]
                assert edit["range"]["end"]["line"] <= last
        if name == "range_start" and edits:
            line, character = map(int, argument.split(":"))
            assert edits[0]["range"]["start"] == {"line": line, "character": character}
    if "empty" in case.checks:
        assert edits == []


def more_places(case: Case, text: str) -> list[tuple[int, int]]:
    """Start, middle and end of a big file; every place of a small broken one."""
    lines = re.split(r"\r\n|\n|\r", text)
    if case.table["class"] == "huge-input":
        return [(0, 0), (len(lines) // 2, 0), (len(lines) - 1, 0), (len(lines) + 9, 9)]
    if case.table["class"] in ("syntax-error", "empty-file", "eof-cursor"):
        places = [(n, c) for n, line in enumerate(lines) for c in range(len(line) + 1)]
        return [*places[:2000], (len(lines) + 2, 7)]
    return []


def offset_at(text: str, line: int, character: int) -> int:
    """Return the offset of a position in UTF-16 units, clamped into the text."""
    start = 0
    for match in re.finditer(r"\r\n|\n|\r", text):
        if line == 0:
            break
        start, line = match.end(), line - 1
    if line > 0:
        return len(text)
    end = re.compile(r"\r\n|\n|\r|\Z").search(text, start)
    assert end is not None
    units = 0
    for offset in range(start, end.start()):
        if units >= character:
            return offset
        units += 2 if ord(text[offset]) > 0xFFFF else 1
    return end.start()


def seconds_of(case: Case) -> float | None:
    for check in case.checks:
        if match := re.fullmatch(r"time<=(\d+)(ms|s)", check):
            return int(match[1]) / (1000 if match[2] == "ms" else 1)
    return None


def unchecked(case: Case, asked: Asked, argument: str) -> None:
    """Hold nothing: the check is about a server, or ``expected`` says it all."""


def check_outside(case: Case, asked: Asked, argument: str) -> None:
    if asked.candidate is None:
        return
    span = asked.candidate.span
    assert 0 <= span.start <= asked.cursor <= span.end <= len(asked.text)
    if case.table["request"] != "codeAction":
        assert asked.result.startswith(asked.text[: asked.cursor])


def check_lines(case: Case, asked: Asked, argument: str) -> None:
    if asked.candidate is None:
        return  # Nothing that parses no worse could be had.
    first, last = map(int, argument.split(":"))
    span = asked.candidate.span
    assert first <= asked.text.count("\n", 0, span.start)
    assert asked.text.count("\n", 0, span.end) <= last


def check_start(case: Case, asked: Asked, argument: str) -> None:
    assert asked.candidate is not None
    line, character = map(int, argument.split(":"))
    assert asked.candidate.span.start == offset_at(asked.text, line, character)


def check_parses(case: Case, asked: Asked, argument: str) -> None:
    language = language_of(Path(case.table["input"]))
    assert parse(asked.result, language).broken == []


def check_balanced(case: Case, asked: Asked, argument: str) -> None:
    language = parse("", language_of(Path(case.table["input"]))).language
    assert not unclosed(asked.result, language)
    assert not unopened(asked.result, language)


def check_no_special(case: Case, asked: Asked, argument: str) -> None:
    if asked.candidate is not None:
        assert not re.search(r"<\|.*?\|>|<EOT>", asked.fill)


def check_no_bidi(case: Case, asked: Asked, argument: str) -> None:
    if asked.candidate is not None:
        assert not set(BIDI) & set(asked.fill)


def check_suffix_echo(case: Case, asked: Asked, argument: str) -> None:
    rest = re.split(r"[\r\n]", asked.text[asked.cursor :])[0].strip()
    if asked.candidate is not None and len(rest) > 1:
        assert not asked.fill.rstrip().endswith(rest)


def check_prefix_echo(case: Case, asked: Asked, argument: str) -> None:
    head = re.split(r"[\r\n]", asked.text[: asked.cursor])[-1].strip()
    if asked.candidate is not None and len(head) > 1:
        assert not asked.fill.lstrip().startswith(head)


def check_line_ends(case: Case, asked: Asked, argument: str) -> None:
    if "\r\n" in asked.text:
        assert "\n" not in asked.result.replace("\r\n", "")
        assert "\r" not in asked.result.replace("\r\n", "")
    for canvas in asked.stub.canvases:
        context = canvas.context
        for part in (context.prefix, context.suffix, context.extra, canvas.given):
            assert "\r" not in part


def check_empty(case: Case, asked: Asked, argument: str) -> None:
    assert asked.candidate is None


def check_time(case: Case, asked: Asked, argument: str) -> None:
    limit = seconds_of(case)
    assert limit is None or asked.seconds <= limit


def check_indent_style(case: Case, asked: Asked, argument: str) -> None:
    if asked.candidate is None:
        return
    leads = [
        re.match(r"[ \t]*", line) for line in to_line_feeds(asked.text).split("\n")
    ]
    styles = {match[0][0] for match in leads if match and match[0]}
    if len(styles) == 1:
        for line in to_line_feeds(asked.fill).split("\n")[1:]:
            lead = re.match(r"[ \t]*", line)
            assert lead is None or set(lead[0]) <= styles


CHECKS = {
    "outside_unchanged": check_outside,
    "span_within_lines": check_lines,
    "range_start": check_start,
    "parses": check_parses,
    "balanced": check_balanced,
    "no_special": check_no_special,
    "no_bidi_controls": check_no_bidi,
    "no_suffix_echo": check_suffix_echo,
    "no_prefix_echo": check_prefix_echo,
    "eol_kept": check_line_ends,
    "empty": check_empty,
    "time": check_time,
    "indent_style": check_indent_style,
}
