"""Languages inside languages: a script in a page, a fence in Markdown, a template.

A layer is the whole text parsed in the inner language, of which the parser sees only
the region it is written in; so offsets are the file's throughout.
"""

from typing import NamedTuple

from niello.grammars.catalogue import find_language

from .parse import Parsed, parse_ranges, run_matches

_DEEPEST = 3


class Region(NamedTuple):
    """A stretch of code points that is written in another language."""

    start: int
    end: int
    language: str
    holes: tuple[tuple[int, int], ...]  # parts of it that belong to the outer language


def layer_at(parsed: Parsed, offset: int) -> Parsed:
    """Return the innermost layer that an offset lies in, ``parsed`` itself if none."""
    for _ in range(_DEEPEST):
        region = region_at(parsed, offset)
        if region is None:
            break
        ranges = []
        start = region.start
        for left, right in region.holes:
            ranges.append((start, left))
            start = right
        ranges.append((start, region.end))
        parsed = parse_ranges(parsed, region.language, ranges)
    return parsed


def region_at(parsed: Parsed, offset: int) -> Region | None:
    """Return the region of another language that an offset lies in."""
    found = None
    for captures in run_matches(parsed, "injections", offset, offset):
        region = _region(parsed, captures)
        known = region is not None and find_language(region.language)
        if region is None or not known or known.name == parsed.name:
            continue
        outside = any(left < offset < right for left, right in region.holes)
        # A block of whole lines ends where the line below it starts.
        last = region.end - parsed.text.endswith("\n", region.start, region.end)
        if region.start <= offset <= last and not outside:
            found = region
    return found


def _region(
    parsed: Parsed, captures: dict[str, list[tuple[int, int]]]
) -> Region | None:
    """Read a match: a language's name or text, and what it is the language of."""
    name = next(
        (capture for capture in captures if capture.startswith("language.")), ""
    ).removeprefix("language.")
    if "language" in captures:
        start, end = captures["language"][0]
        name = parsed.text[start:end]
    if "before" in captures and "after" in captures:
        start, end = captures["before"][0][1], captures["after"][-1][0]
    elif "content" in captures:
        start, end = captures["content"][0]
    elif "quoted" in captures:
        start, end = captures["quoted"][0]
        start, end = start + 1, end - 1
    else:
        return None
    holes = [
        (node.start, node.end)
        for node in parsed.captures("spans", start, end)
        if "quoted" in captures
        and node.name == "code"
        and start <= node.start
        and node.end <= end
    ]
    return Region(start, end, name, tuple(holes)) if start <= end else None
