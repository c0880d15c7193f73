"""Edits as the client can take them: versioned, annotated, to be previewed if many."""

from collections.abc import Sequence

from lsprotocol import types as lsp_types

from niello.infill.snapshot import Snapshot

from .convert import Encoding, Lines, to_place, to_units
from .edits import Edit

_ANNOTATION = "niello"


def workspace_edit(
    snapshot: Snapshot,
    edits: Sequence[Edit],
    title: str,
    capabilities: lsp_types.ClientCapabilities,
    encoding: Encoding,
) -> lsp_types.WorkspaceEdit:
    """Return edits of one document in the richest form the client knows."""
    lines = Lines(snapshot.text)
    workspace = capabilities.workspace
    support = workspace.workspace_edit if workspace else None
    plain = [
        lsp_types.TextEdit(to_range(snapshot.text, lines, each, encoding), each.text)
        for each in edits
    ]
    if support is None or not support.document_changes:
        return lsp_types.WorkspaceEdit(changes={snapshot.uri: plain})
    identifier = lsp_types.OptionalVersionedTextDocumentIdentifier(
        snapshot.uri, snapshot.version
    )
    if support.change_annotation_support is None:
        change = lsp_types.TextDocumentEdit(identifier, list(plain))
        return lsp_types.WorkspaceEdit(document_changes=[change])
    annotated = [
        lsp_types.AnnotatedTextEdit(_ANNOTATION, each.range, each.new_text)
        for each in plain
    ]
    change = lsp_types.TextDocumentEdit(identifier, list(annotated))
    annotation = lsp_types.ChangeAnnotation(
        title, needs_confirmation=len(edits) > 1, description="filled by Niello"
    )
    return lsp_types.WorkspaceEdit(
        document_changes=[change], change_annotations={_ANNOTATION: annotation}
    )


def to_range(
    text: str, lines: Lines, edit: Edit, encoding: Encoding
) -> lsp_types.Range:
    """Return what an edit replaces, in the client's units."""
    return lsp_types.Range(
        _position(text, lines, edit.start, encoding),
        _position(text, lines, edit.end, encoding),
    )


def _position(
    text: str, lines: Lines, offset: int, encoding: Encoding
) -> lsp_types.Position:
    line, column = to_place(text, lines, offset)
    start = lines.start(line)
    units = to_units(text[start : start + column], encoding)
    return lsp_types.Position(line, units)
