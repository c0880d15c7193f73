"""Spans that are not at a cursor: a selection, named nodes, what the parser lacks."""

from .layers import layer_at
from .lines import is_blank, lead, line_start
from .parse import Parsed
from .span import Span, find_span


def find_selection(parsed: Parsed, start: int, end: int) -> Span:
    """Return the smallest run of statements or nodes that covers a selection."""
    text = parsed.text
    start, end = max(0, min(start, end)), min(len(text), max(start, end))
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    parsed = layer_at(parsed, start)
    names = ("statement", "expression", "string", "comment")
    nodes = [
        node for node in parsed.captures("spans", start, end) if node.name in names
    ]
    covering = [node for node in nodes if node.start <= start and end <= node.end]
    if start == end:
        if not covering:
            return find_span(parsed, start)
        # An empty selection means the statement it is in, not a part of it.
        statements = [node for node in covering if node.name == "statement"]
        best = min(statements or covering, key=lambda node: node.end - node.start)
        return node_span(parsed, best.start, best.end)
    touched = [node for node in nodes if node.start < end and node.end > start]
    inner = [node for node in touched if start <= node.start or node.end <= end]
    runs = [(node.start, node.end) for node in covering]
    if inner:
        runs.append(
            (
                min(start, *(node.start for node in inner)),
                max(end, *(node.end for node in inner)),
            )
        )
    best_run = min(runs, key=lambda run: run[1] - run[0], default=(start, end))
    return node_span(parsed, *best_run)


def node_span(parsed: Parsed, start: int, end: int) -> Span:
    """Return the span that replaces ``[start, end)`` as a whole."""
    begin = line_start(parsed.text, start)
    return Span(start, end, "node", lead(parsed.text[begin:start]))


def find_broken(parsed: Parsed) -> list[Span]:
    """Return a span for each ERROR or MISSING node, held to the lines it starts on."""
    spans = []
    for node in parsed.broken:
        if is_blank(parsed.text[node.start : node.end]):
            spans.append(node_span(parsed, node.start, node.start))
            continue
        stop = parsed.text.find("\n", node.start, node.end)
        spans.append(
            node_span(parsed, node.start, node.end if stop < 0 else stop),
        )
    return spans
