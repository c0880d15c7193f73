"""One document at one moment; everything after the editor's edge works on this value."""

from typing import NamedTuple


class Snapshot(NamedTuple):
    """An immutable copy of a document; ``text`` keeps its line endings and has no BOM."""

    uri: str
    version: int
    language: str  # a name of grammars/languages.toml, or whatever the client said
    text: str
