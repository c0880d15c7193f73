"""`niello fill`, `niello spans` and `niello demo`: one place of a file, once."""

import argparse
import difflib
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from niello.grammars.catalogue import language_of
from niello.infill.canvas import Draws, Filler
from niello.infill.errors import SourceError
from niello.infill.files import Source, decode_source, read_source, write_source
from niello.infill.parse import parse
from niello.infill.propose import Candidate, Options, draw_canvas, propose
from niello.infill.snapshot import Snapshot
from niello.infill.span import find_span

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # a form feed ends none
_HOTTEST = 10  # temperature: by then every token is about as likely as the next
_DEMO = (
    ("bank.py:17", "a function body from its signature and docstring"),
    ("report.py:14:38", "an argument inside a call"),
    ("cart.ts:16", "a block of TypeScript"),
)


class Place(NamedTuple):
    """A position in a file that was read."""

    source: Source
    snapshot: Snapshot
    cursor: int  # code points


def add_parsers(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Add the commands that look at one place."""
    fill = subparsers.add_parser(
        "fill",
        help="fill one place of a file; shows a diff",
        description="Fill the span at a place. Lines and columns count from 1.",
    )
    _add_place(fill)
    fill.add_argument("--write", action="store_true", help="replace the file")
    fill.add_argument("--json", action="store_true", help="print candidates as JSON")
    fill.add_argument("-n", type=_at_least_one, default=1, help="candidates to draw")
    fill.add_argument("--room", type=_at_least_one, default=256, help="most tokens")
    fill.add_argument("--temperature", type=at_temperature, default=0.0)
    fill.add_argument("--seed", type=int, default=0)
    fill.add_argument(
        "--engine",
        default="default",
        metavar="NAME",
        help="a model of `niello models list`, its folder, or a remote engine",
    )
    fill.set_defaults(run=_fill)
    spans = subparsers.add_parser(
        "spans", help="show what would be filled at a place, without a model"
    )
    _add_place(spans)
    spans.set_defaults(run=_spans)
    demo = subparsers.add_parser("demo", help="fill three places of the examples")
    demo.set_defaults(run=_demo)


def open_place(text: str, language: str | None = None) -> Place:
    """Read FILE:LINE[:COL]; FILE may be ``-`` for standard input."""
    match = _PLACE.fullmatch(text.strip())
    if not match:
        raise SourceError(f"{text}: write FILE:LINE or FILE:LINE:COL, such as a.py:3:5")
    path = Path(match["path"])
    if str(path) == "-":
        if not language:
            raise SourceError("-: say which language it is, such as --language python")
        source = decode_source(path, sys.stdin.buffer.read())
    else:
        source = read_source(path)
    language = language or language_of(path)
    cursor = _offset(source, int(match["line"]), match["column"])
    return Place(source, Snapshot(path.as_posix(), 0, language, source.text), cursor)


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "place", metavar="FILE:LINE[:COL]", help="without a column: the line's end"
    )
    parser.add_argument("--language", help="needed where the name does not tell it")


def _fill(arguments: argparse.Namespace) -> int:
    place = open_place(arguments.place, arguments.language)
    if arguments.write and str(place.source.path) == "-":
        raise SourceError("-: standard input cannot be written; leave --write out")
    filler = open_engine(arguments.engine)
    draws = Draws(arguments.n, arguments.temperature, arguments.seed)
    start = time.perf_counter()
    candidates = propose(
        place.snapshot, place.cursor, filler, Options(draws, arguments.room)
    )
    seconds = time.perf_counter() - start
    if arguments.json:
        print(json.dumps([_as_json(place, each) for each in candidates], indent=2))
    elif not candidates:
        print("niello: nothing to propose here", file=sys.stderr)
    else:
        for candidate in candidates:
            show_diff(place, candidate)
            _show_cost(candidate, seconds)
    if candidates and arguments.write:
        write_source(place.source, _apply(place, candidates[0]))
    return 0 if candidates else 1


def _spans(arguments: argparse.Namespace) -> int:
    place = open_place(arguments.place, arguments.language)
    parsed = parse(place.snapshot.text, place.snapshot.language)
    span = find_span(parsed, place.cursor)
    canvas = draw_canvas(parsed, span, Options(), span.end - span.start)
    start, end = (_line_column(parsed.text, at) for at in (span.start, span.end))
    print(f"span     {start} to {end}")
    print(f"kind     {span.kind}")
    print(f"language {place.snapshot.language}")
    print(f"given    {canvas.given!r}")
    for name in ("extra", "prefix", "suffix"):
        text = getattr(canvas.context, name)
        print(f"{name:8} {len(text)} characters, {text.count(chr(10))} lines")
    return 0


def _demo(arguments: argparse.Namespace) -> int:
    folder = Path(__file__).resolve().parent.parent.parent / "examples"
    if not folder.is_dir():
        raise SourceError("the examples are in the repository; run this in a clone")
    filler = open_engine("default")
    n_shown = 0
    for name, title in _DEMO:
        place = open_place(str(folder / name))
        start = time.perf_counter()
        candidates = propose(place.snapshot, place.cursor, filler, Options())
        seconds = time.perf_counter() - start
        print(f"\n{title}")
        for candidate in candidates[:1]:
            n_shown += 1
            show_diff(place, candidate)
            _show_cost(candidate, seconds)
    return 0 if n_shown == len(_DEMO) else 1


def open_engine(name: str) -> Filler:
    """Load an engine, saying so on a terminal: it takes a moment."""
    from niello.engine.opening import open_filler

    with models_progress() as (progress, say):
        return open_filler(name, progress=progress, say=say)


def models_progress() -> Any:
    """Return the progress bar of the models command; imported when it is needed."""
    from niello.models_command import progress_bar

    return progress_bar()


def show_diff(place: Place, candidate: Candidate) -> None:
    """Print what a candidate changes as a unified diff, in colour on a terminal."""
    name = Path(os.path.relpath(place.source.path)).as_posix()
    if name.startswith("../"):
        name = place.snapshot.uri
    lines = difflib.unified_diff(
        _LINE.findall(place.source.text),
        _LINE.findall(_apply(place, candidate)),
        f"a/{name.lstrip('/')}",
        f"b/{name.lstrip('/')}",
        n=2,
    )
    for line in lines:
        print(_colour(line.rstrip("\r\n")))


def _apply(place: Place, candidate: Candidate) -> str:
    text, span = place.source.text, candidate.span
    return text[: span.start] + candidate.text + text[span.end :]


def _show_cost(candidate: Candidate, seconds: float) -> None:
    per_pass = candidate.n_tokens / max(1, candidate.forwards)
    verdict = f"; {', '.join(candidate.verdict)}" if candidate.verdict else ""
    print(
        f"{candidate.n_tokens} tokens in {candidate.forwards} forward passes"
        f" ({per_pass:.1f} a pass), {seconds:.2f} s{verdict}",
        file=sys.stderr,
    )


def _colour(line: str) -> str:
    if os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return line
    codes = {"+": "32", "-": "31", "@": "36"}
    code = "1" if line.startswith(("+++", "---")) else codes.get(line[:1])
    return f"\x1b[{code}m{line}\x1b[0m" if code else line


def _as_json(place: Place, candidate: Candidate) -> dict[str, Any]:
    span = candidate.span
    return {
        "start": span.start,
        "end": span.end,
        "kind": span.kind,
        "text": candidate.text,
        "score": round(candidate.score, 4),
        "verdict": list(candidate.verdict),
        "n_tokens": candidate.n_tokens,
        "forwards": candidate.forwards,
    }


def _offset(source: Source, line: int, column: str | None) -> int:
    """Return the code point of a line and column that count from 1."""
    starts = [0, *(m.end() for m in re.finditer(r"\r\n|\r|\n", source.text))]
    if not 1 <= line <= len(starts):
        raise SourceError(
            f"{source.path}: there is no line {line}; the file has {len(starts)}"
        )
    start = starts[line - 1]
    stop = starts[line] if line < len(starts) else len(source.text)
    length = len(source.text[start:stop].rstrip("\r\n"))
    if column is None:
        return start + length
    if not 1 <= int(column) <= length + 1:
        raise SourceError(
            f"{source.path}:{line}: there is no column {column};"
            f" the line has {length + 1}"
        )
    return start + int(column) - 1


def _line_column(text: str, offset: int) -> str:
    before = re.split(r"\r\n|\r|\n", text[:offset])
    return f"{len(before)}:{len(before[-1]) + 1}"


def at_temperature(text: str) -> float:
    """Read a temperature: 0 for the likeliest text, more for more varied ones."""
    number = float(text)
    if not 0 <= number <= _HOTTEST:
        raise argparse.ArgumentTypeError(f"a number from 0 to {_HOTTEST}")
    return number


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number
