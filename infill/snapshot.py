"""One document at one moment; all after the editor's edge works on this value."""

from typing import NamedTuple


class Snapshot(NamedTuple):
    """An immutable copy of a document; ``text`` keeps its line ends and has no BOM."""

    uri: str
    version: int
    language: str  # a name of grammars/languages.toml, or whatever the client said
    text: str
