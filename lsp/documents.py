"""The client's open documents, kept from its own change messages, in memory only.

Nothing here reads the disk: a document the client has not opened does not exist. A
document is found under every spelling of its URI and answers with the spelling it was
opened with.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from lsprotocol import types as lsp_types

from niello.infill.snapshot import Snapshot

from .convert import Encoding, Lines, to_offset

UNTOLD_VERSION = -1  # of a change whose client counts no versions
_DRIVE = re.compile(r"^/*([A-Za-z]):[\\/]")


class Document:
    """One open document; its text changes only by the client's messages."""

    def __init__(self, uri: str, language: str, version: int, text: str) -> None:
        """Take over what the client opened."""
        self.uri = uri
        self.language = language
        self.version = version
        self.text = text
        self.notebook = ""  # the URI of the notebook that it is a cell of
        self.changed_at = 0  # offset behind the last change
        self.is_lost = False  # a change could not be read: the client's text is another
        self.before = text  # the text before the last message that changed it
        self._lines: Lines | None = None

    @property
    def lines(self) -> Lines:
        """The line table, made when it is first asked for."""
        if self._lines is None:
            self._lines = Lines(self.text)
        return self._lines

    @property
    def home(self) -> str:
        """The URI that tells in which folder it is; a cell is where its notebook is."""
        return self.notebook or self.uri

    def snapshot(self) -> Snapshot:
        """Return the document as it is now."""
        return Snapshot(self.uri, self.version, self.language, self.text)

    def offset(self, position: lsp_types.Position, encoding: Encoding) -> int:
        """Return the code-point offset of a protocol position."""
        return to_offset(
            self.text, self.lines, position.line, position.character, encoding
        )

    def replace(self, start: int, end: int, text: str) -> None:
        """Put ``text`` in the place of ``[start, end)``."""
        old = self.text
        self.text = old[:start] + text + old[end:]
        self.changed_at = start + len(text)
        if self._lines is not None:
            self._lines.replaced(start, end, old, self.text)

    def replace_all(self, text: str) -> None:
        """Put ``text`` in the place of everything."""
        self.text, self._lines, self.changed_at = text, None, len(text)
        self.is_lost = False


class Documents:
    """All open documents, cells of notebooks among them."""

    def __init__(self) -> None:
        """Begin with none."""
        self.encoding: Encoding = "utf-16"
        self._documents: dict[str, Document] = {}
        self._notebooks: dict[str, list[str]] = {}

    def __len__(self) -> int:
        """Return how many documents are open."""
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        """Go over the open documents; what changed last comes last."""
        return iter(list(self._documents.values()))

    def find(self, uri: str) -> Document | None:
        """Return the open document of ``uri`` in any spelling."""
        return self._documents.get(uri) or self._documents.get(spelling(uri))

    def is_current(self, snapshot: Snapshot) -> bool:
        """Whether a document is still what it was when the snapshot was taken."""
        document = self.find(snapshot.uri)
        if document is None or document.is_lost:
            return False
        # A document that is opened anew, and a client that does not count, give a
        # version to more than one text.
        same = document.version == snapshot.version
        return same and document.text == snapshot.text

    def open(self, item: lsp_types.TextDocumentItem) -> Document:
        """Take over a document; one that is open already is replaced."""
        document = Document(item.uri, item.language_id, item.version, item.text)
        self._put_last(document)
        return document

    def change(self, params: lsp_types.DidChangeTextDocumentParams) -> Document | None:
        """Apply changes in their order; None for a document that is not open."""
        identifier = params.text_document
        return self._apply(identifier.uri, identifier.version, params.content_changes)

    def close(self, uri: str) -> None:
        """Forget a document."""
        self._documents.pop(spelling(uri), None)

    def open_notebook(self, params: lsp_types.DidOpenNotebookDocumentParams) -> None:
        """Take over a notebook's cells as documents of their own."""
        notebook = params.notebook_document
        self._notebooks[spelling(notebook.uri)] = [
            cell.document for cell in notebook.cells
        ]
        self._open_cells(notebook.uri, params.cell_text_documents)

    def change_notebook(
        self, params: lsp_types.DidChangeNotebookDocumentParams
    ) -> list[Document]:
        """Apply changes to cells and return those whose text changed."""
        cells = params.change.cells
        if cells is None:
            return []
        notebook = params.notebook_document.uri
        known = self._notebooks.setdefault(spelling(notebook), [])
        if cells.structure is not None:
            array = cells.structure.array
            put = [cell.document for cell in array.cells or []]
            known[array.start : array.start + array.delete_count] = put
            for closed in cells.structure.did_close or []:
                self.close(closed.uri)
                if closed.uri in known:
                    known.remove(closed.uri)
            self._open_cells(notebook, cells.structure.did_open or [])
        changed = [
            self._apply(each.document.uri, each.document.version, each.changes)
            for each in cells.text_content or []
        ]
        return [each for each in changed if each is not None]

    def cells_of(self, uri: str) -> list[Document]:
        """Return the open cells of a notebook in their order."""
        found = map(self.find, self._notebooks.get(spelling(uri), []))
        return [each for each in found if each is not None and each.notebook]

    def close_notebook(
        self, params: lsp_types.DidCloseNotebookDocumentParams
    ) -> list[str]:
        """Forget a notebook and its cells, and return the cells' URIs."""
        uri = params.notebook_document.uri
        closed = {each.uri for each in self.cells_of(uri)}
        closed |= {each.uri for each in params.cell_text_documents}
        self._notebooks.pop(spelling(uri), None)
        for cell in closed:
            self.close(cell)
        return sorted(closed)

    def _open_cells(
        self, notebook: str, items: Sequence[lsp_types.TextDocumentItem]
    ) -> None:
        known = self._notebooks[spelling(notebook)]
        for item in items:
            self.open(item).notebook = notebook
            if item.uri not in known:
                known.append(item.uri)

    def _put_last(self, document: Document) -> None:
        key = spelling(document.uri)
        self._documents.pop(key, None)
        self._documents[key] = document

    def _apply(
        self,
        uri: str,
        version: int,
        changes: Iterable[lsp_types.TextDocumentContentChangeEvent],
    ) -> Document | None:
        document = self.find(uri)
        if document is None:
            return None
        document.before = document.text
        for change in changes:
            if isinstance(change, lsp_types.TextDocumentContentChangePartial):
                start = document.offset(change.range.start, self.encoding)
                end = document.offset(change.range.end, self.encoding)
                document.replace(min(start, end), max(start, end), change.text)
            else:
                document.replace_all(change.text)
        told = version != UNTOLD_VERSION
        document.version = version if told else document.version + 1
        self._put_last(document)
        return document


def spelling(uri: str) -> str:
    """Return one spelling for all that name the same document.

    Clients write a drive as ``c:``, ``C:`` or ``c%3A``, some write ``file:/`` with one
    stroke, and a few send a bare Windows path. Only ``file:`` URIs are touched; other
    schemes mean what their owner says.
    """
    scheme, colon, rest = uri.partition(":")
    if colon and scheme.lower() == "file":
        path = unquote(rest)
    elif _DRIVE.match(uri):
        path = "///" + uri.replace("\\", "/")
    else:
        return uri
    if path.startswith("/") and not path.startswith("//"):
        path = f"//{path}"
    drive = _DRIVE.match(path)
    if drive:
        path = f"///{drive[1].lower()}:/{path[drive.end() :]}"
    return f"file:{path}"


def to_path(uri: str) -> str | None:
    """Return the path that a ``file:`` URI names; None for other schemes."""
    scheme, _, path = spelling(uri).partition(":")
    if scheme != "file":
        return None
    drive = _DRIVE.match(path)
    return path.lstrip("/") if drive else "/" + path.lstrip("/")
