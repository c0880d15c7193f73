"""Text as a syntax tree: byte and code point offsets, reparse of what changed, queries.

Offsets in and out are code points; tree-sitter's are bytes of UTF-8. A ``Parsed`` is a
value: a reparse makes a new one and leaves the old as it is, so threads may share it.
"""

import importlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import tree_sitter

from niello.grammars.catalogue import Language, find_language, query_text

from .lines import common_head, common_tail
from .offsets import Offsets, encode

# Larger texts are filled by lines and indentation alone: parsing them takes long, and
# no other thread runs meanwhile.
MAX_BYTES = 500_000
_DEEPEST = 400  # levels of the tree around a place that queries look at
_TO_ASCII = bytes(range(128)) + b"x" * 128
_LONE_CR = re.compile(rb"\r(?!\n)")

_Ranges = tuple[tuple[int, int], ...]


class Node(NamedTuple):
    """A node of the tree by code points; ``name`` is the capture or the node's type."""

    start: int
    end: int
    name: str


class Parsed:
    """A text with its syntax tree, if its language is known and its size allows."""

    def __init__(
        self,
        text: str,
        name: str,
        data: bytes,
        tree: tree_sitter.Tree | None,
        ranges: _Ranges = (),
    ) -> None:
        """Hold what ``parse`` made; callers use that."""
        self.text = text
        self.name = name  # the language, as the caller named it
        self.data = data  # the text in UTF-8, a lone CR written LF
        self.tree = tree
        self._found: dict[tuple[str, int, int], list[Node]] = {}
        self.ranges = ranges  # the bytes that the tree is of; all if empty

    @cached_property
    def language(self) -> Language | None:
        """The facts of the language, None if it is unknown."""
        return find_language(self.name)

    def to_byte(self, offset: int) -> int:
        """Convert a code point offset to a byte offset."""
        return self._offsets.to_byte(offset)

    def to_offset(self, byte: int) -> int:
        """Convert a byte offset to a code point offset."""
        return self._offsets.to_offset(byte)

    @cached_property
    def _offsets(self) -> Offsets:
        return Offsets(self.text, self.data)

    def captures(self, purpose: str, start: int, end: int) -> list[Node]:
        """Return what a query file captures at ``[start, end]``, outer first."""
        key = (purpose, start, end)
        if key not in self._found:
            self._found[key] = self._captures(purpose, start, end)
        return self._found[key]

    def _captures(self, purpose: str, start: int, end: int) -> list[Node]:
        query = None if self.language is None else _query(self.language, purpose)
        if self.tree is None or query is None:
            return []
        cursor = tree_sitter.QueryCursor(query, match_limit=4096)
        first, last = self.to_byte(start), self.to_byte(end)
        cursor.set_byte_range(max(0, first - 1), last + 1)
        found = {
            (node.start_byte, -node.end_byte, name)
            for name, nodes in cursor.captures(self.near(start, end)).items()
            for node in nodes
            if node.start_byte <= last and node.end_byte >= first
        }
        return [
            Node(self.to_offset(left), self.to_offset(-right), name)
            for left, right, name in sorted(found)
        ]

    def leaf(self, offset: int) -> Node | None:
        """Return the smallest node that starts at ``offset`` or covers it."""
        if self.tree is None:
            return None
        byte = self.to_byte(offset)
        node = self.tree.root_node.descendant_for_byte_range(byte, byte)
        if node is None:
            return None
        return Node(
            self.to_offset(node.start_byte), self.to_offset(node.end_byte), node.type
        )

    def ancestors(self, start: int, end: int) -> list[tree_sitter.Node]:
        """Return the nodes that cover ``[start, end)``, innermost first."""
        if self.tree is None:
            return []
        root = self.tree.root_node
        first, last = self.to_byte(start), self.to_byte(end)
        found = root.descendant_for_byte_range(first, last)
        # A node's parent is found from the root: asking each for it takes the square.
        path = [root]
        while path[-1] != found and found is not None:
            if (below := path[-1].child_with_descendant(found)) is None:
                break
            path.append(below)
        return path[::-1]

    def near(self, start: int, end: int) -> tree_sitter.Node:
        """Return the node to run a query from that looks at ``[start, end]``.

        Queries take the square of the depth, so of what is nested without end only the
        innermost levels are looked at.
        """
        assert self.tree is not None, "there is no tree to look at"
        path = []
        if len(self.data) > _DEEPEST:
            path = self.ancestors(max(0, start - 1), min(end + 1, len(self.text)))
        return path[_DEEPEST] if len(path) > _DEEPEST else self.tree.root_node

    @cached_property
    def broken(self) -> list[Node]:
        """All ERROR and MISSING nodes, in the order of the text."""
        if self.tree is None:
            return []
        return [
            Node(
                self.to_offset(node.start_byte),
                self.to_offset(node.end_byte),
                "MISSING" if node.is_missing else "ERROR",
            )
            for node in _broken(self.tree.root_node)
        ]


def parse(text: str, language: str, old: Parsed | None = None) -> Parsed:
    """Parse a text; ``old``, an earlier state of the same document, makes it quick."""
    if old is not None and old.text == text and old.name == language:
        return old
    data = _readable(text)
    known = find_language(language)
    if known is None or len(data) > MAX_BYTES:
        return Parsed(text, language, data, None)
    before = None
    if old is not None and old.tree is not None and old.name == language:
        before = _edited(old.tree, old.data, data)
    return Parsed(text, language, data, _parse(known, data, before))


def parse_ranges(
    outer: Parsed, language: str, ranges: Sequence[tuple[int, int]]
) -> Parsed:
    """Parse ranges of code points of a text in another language than its own."""
    name, known = language, find_language(language)
    if known is not None:
        name = known.name
    stretches = tuple(
        (outer.to_byte(start), outer.to_byte(end)) for start, end in ranges
    )
    tree = None if known is None else _parse(known, outer.data, None, stretches)
    return Parsed(outer.text, name, outer.data, tree, stretches)


def replace(parsed: Parsed, start: int, end: int, text: str) -> Parsed:
    """Return the document with ``[start, end)`` replaced by ``text``."""
    whole = parsed.text[:start] + text + parsed.text[end:]
    if not parsed.ranges or parsed.language is None or parsed.tree is None:
        return parse(whole, parsed.name, parsed)
    data = _readable(whole)
    grown, first = len(data) - len(parsed.data), parsed.to_byte(start)
    ranges = tuple(
        (left + grown * (left > first), right + grown * (right >= first))
        for left, right in parsed.ranges
    )
    tree = _parse(
        parsed.language, data, _edited(parsed.tree, parsed.data, data), ranges
    )
    return Parsed(whole, parsed.name, data, tree, ranges)


def parse_again(parsed: Parsed) -> Parsed:
    """Parse a text from nothing: a reparse may see an ERROR that is not there."""
    if parsed.language is None or len(parsed.data) > MAX_BYTES:
        return parsed
    tree = _parse(parsed.language, parsed.data, None, parsed.ranges)
    return Parsed(parsed.text, parsed.name, parsed.data, tree, parsed.ranges)


def run_matches(
    parsed: Parsed, purpose: str, start: int, end: int
) -> list[dict[str, list[tuple[int, int]]]]:
    """Return the matches of a query in touch with ``[start, end]``, by pattern."""
    query = None if parsed.language is None else _query(parsed.language, purpose)
    if query is None or parsed.tree is None:
        return []
    cursor = tree_sitter.QueryCursor(query, match_limit=4096)
    first, last = parsed.to_byte(start), parsed.to_byte(end)
    cursor.set_byte_range(max(0, first - 1), last + 1)
    near = parsed.near(start, end)
    found = sorted(cursor.matches(near), key=lambda match: match[0])
    return [
        {
            name: [
                (parsed.to_offset(node.start_byte), parsed.to_offset(node.end_byte))
                for node in nodes
            ]
            for name, nodes in captures.items()
        }
        for _, captures in found
    ]


def _readable(text: str) -> bytes:
    """Return a text in UTF-8; CR alone, at which few grammars end a line, is LF."""
    data = encode(text)
    return _LONE_CR.sub(b"\n", data) if b"\r" in data else data


def _parse(
    language: Language,
    data: bytes,
    old: tree_sitter.Tree | None,
    ranges: _Ranges = (),
) -> tree_sitter.Tree | None:
    parser = tree_sitter.Parser(grammar(language))
    if language.ascii:
        data = data.translate(_TO_ASCII)
    if ranges:
        parser.included_ranges = [
            tree_sitter.Range(_point(data, start), _point(data, end), start, end)
            for start, end in ranges
        ]
    # Reading through a callable would give a deadline and let other threads run, but
    # tree-sitter 0.26.1 leaks all that a callable returns.
    return parser.parse(data) if old is None else parser.parse(data, old)


def _edited(tree: tree_sitter.Tree, old: bytes, new: bytes) -> tree_sitter.Tree:
    """Return a copy of the tree that knows which bytes were replaced."""
    most = min(len(old), len(new))
    start = common_head(old, new, most)
    tail = common_tail(old, new, most - start)
    old_end, new_end = len(old) - tail, len(new) - tail
    copy = tree.copy()
    copy.edit(
        start,
        old_end,
        new_end,
        _point(old, start),
        _point(old, old_end),
        _point(new, new_end),
    )
    return copy


def _point(data: bytes, byte: int) -> tuple[int, int]:
    line_start = data.rfind(b"\n", 0, byte) + 1
    return data.count(b"\n", 0, byte), byte - line_start


def _broken(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    # Broken trees can be deeper than Python's stack, so this keeps its own.
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            yield node
        if node.has_error:
            waiting.extend(reversed(node.children))


@lru_cache
def grammar(language: Language) -> tree_sitter.Language:
    """Return the grammar of a language, from the module that holds it."""
    module = importlib.import_module(language.module)
    return tree_sitter.Language(getattr(module, language.function)())


@lru_cache
def _query(language: Language, purpose: str) -> tree_sitter.Query | None:
    text = query_text(language, purpose)
    return tree_sitter.Query(grammar(language), text) if text.strip() else None
