"""Queries of a user's own: matches as code points, mistakes as messages."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import tree_sitter

from niello.grammars.catalogue import find_language

from .errors import SettingsError
from .parse import Node, Parsed, grammar

_TESTS = ("eq?", "not-eq?", "any-eq?", "any-not-eq?", "any-of?")
_EXPRESSIONS = ("match?", "not-match?", "any-match?", "any-not-match?")
_PREDICATES = frozenset([*_TESTS, *_EXPRESSIONS, "set!", "is?", "is-not?"])
_PREDICATE = re.compile(r"#([\w-]+[?!])")
_STRING = re.compile(r'"(?:\\.|[^"\\])*"|;.*')

Match = Mapping[str, Sequence[Node]]
"""The nodes of one match by capture name, each list in the order of the text."""


def matches(parsed: Parsed, source: str) -> list[Match]:
    """Return a query's matches, in the order of the text; none without a tree."""
    if parsed.tree is None:
        return []
    cursor = tree_sitter.QueryCursor(_compiled(parsed.name, source))
    found: list[Match] = []
    for _, captures in cursor.matches(parsed.tree.root_node):
        found.append(
            {
                name: [
                    Node(
                        parsed.to_offset(node.start_byte),
                        parsed.to_offset(node.end_byte),
                        node.type,
                    )
                    for node in nodes
                ]
                for name, nodes in captures.items()
            }
        )
    return sorted(found, key=_position)


def name_of(parsed: Parsed, start: int, end: int) -> str:
    """Return the name of the innermost named construct around ``[start, end)``."""
    for node in parsed.ancestors(start, end):
        named = node.child_by_field_name("name")
        if named is None and (inner := node.child_by_field_name("declarator")):
            # C names what it declares at the heart of a nest of declarators.
            while deeper := inner.child_by_field_name("declarator"):
                inner = deeper
            named = inner
        if named is not None and parsed.to_offset(named.end_byte) <= start:
            return parsed.data[named.start_byte : named.end_byte].decode("utf-8")
    return ""


def check_query(language: str, source: str) -> None:
    """Raise SettingsError, with the place, if a query does not fit a language."""
    _compiled(language, source)


def capture_names(language: str, source: str) -> frozenset[str]:
    """Return the names a query captures."""
    query = _compiled(language, source)
    return frozenset(query.capture_name(n) for n in range(query.capture_count))


@lru_cache(maxsize=64)
def _compiled(name: str, source: str) -> tree_sitter.Query:
    language = find_language(name)
    if language is None:
        raise SettingsError(f"no grammar for {name!r}")
    unknown = set(_PREDICATE.findall(_STRING.sub("", source))) - _PREDICATES
    if unknown:
        # Tree-sitter would ignore it, and the query match what it should not.
        raise SettingsError(
            f"the query uses #{min(unknown)}, which is not known here; known are "
            + ", ".join(f"#{name}" for name in sorted(_PREDICATES))
        )
    try:
        return tree_sitter.Query(grammar(language), source)
    except tree_sitter.QueryError as error:
        raise SettingsError(f"the query does not fit {name}: {error}") from error


def _position(match: Match) -> tuple[int, int]:
    nodes = [node for nodes in match.values() for node in nodes]
    if not nodes:
        return (0, 0)
    return (min(n.start for n in nodes), -max(n.end for n in nodes))
