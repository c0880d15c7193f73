"""The document layer: order, spellings, notebooks, and what it costs."""

import time

import pytest
from lsprotocol import types as lsp_types

from niello.lsp.documents import Documents, spelling


def opened(uri: str, text: str, language: str = "python") -> Documents:
    documents = Documents()
    documents.open(lsp_types.TextDocumentItem(uri, language, 1, text))
    return documents


def partial(
    start: tuple[int, int], end: tuple[int, int], text: str
) -> lsp_types.TextDocumentContentChangePartial:
    return lsp_types.TextDocumentContentChangePartial(
        range=lsp_types.Range(lsp_types.Position(*start), lsp_types.Position(*end)),
        text=text,
    )


def change(
    documents: Documents,
    uri: str,
    version: int,
    *changes: lsp_types.TextDocumentContentChangeEvent,
) -> None:
    documents.change(
        lsp_types.DidChangeTextDocumentParams(
            lsp_types.VersionedTextDocumentIdentifier(version, uri), list(changes)
        )
    )


def text_of(documents: Documents, uri: str) -> str:
    document = documents.find(uri)
    assert document is not None
    return document.text


def test_changes_of_one_message_are_applied_one_after_another() -> None:
    documents = opened("file:///a.py", "package p\n")
    change(
        documents,
        "file:///a.py",
        2,
        partial((1, 0), (1, 0), "ab"),
        partial((1, 0), (1, 1), ""),
        partial((1, 1), (1, 1), "c\n"),
    )
    assert text_of(documents, "file:///a.py") == "package p\nbc\n"


def test_a_snapshot_does_not_follow_later_changes() -> None:
    documents = opened("file:///a.py", "old\n")
    document = documents.find("file:///a.py")
    assert document is not None
    before = document.snapshot()
    change(documents, "file:///a.py", 2, partial((0, 0), (0, 3), "new"))
    assert (before.text, before.version) == ("old\n", 1)
    assert document.snapshot().text == "new\n"


def test_a_whole_text_replaces_everything() -> None:
    documents = opened("file:///a.py", "a\nb\nc\n")
    whole = lsp_types.TextDocumentContentChangeWholeDocument("x\n")
    change(documents, "file:///a.py", 2, whole, partial((1, 0), (1, 0), "y"))
    assert text_of(documents, "file:///a.py") == "x\ny"


def test_columns_behind_an_emoji_are_utf16_units() -> None:
    uri = "file:///a.lua"
    documents = opened(uri, 'put("tea ☕🫖"):now():later()\n', "lua")
    change(documents, uri, 2, partial((0, 20), (0, 20), "\n  "))
    assert text_of(documents, uri) == 'put("tea ☕🫖"):now()\n  :later()\n'


@pytest.mark.parametrize(
    "other", ["file:///c:/code/m.py", "file:///C:/code/m.py", "C:\\code\\m.py"]
)
def test_a_windows_file_is_found_under_every_spelling(other: str) -> None:
    documents = opened("file:///c%3A/code/m.py", "a = 1\n")
    document = documents.find(other)
    assert document is not None
    assert document.uri == "file:///c%3A/code/m.py"


def test_one_stroke_or_three_behind_the_scheme_are_the_same() -> None:
    documents = opened("file:/code/m.py", "a = 1\n")
    assert documents.find("file:///code/m.py") is not None


def test_a_version_told_twice_does_not_make_another_text_current() -> None:
    documents = opened("file:///a.py", "a = 1\n")
    document = documents.find("file:///a.py")
    assert document is not None
    snapshot = document.snapshot()
    documents.open(lsp_types.TextDocumentItem("file:///a.py", "python", 1, "b = 2\n"))
    assert not documents.is_current(snapshot)
    documents.open(lsp_types.TextDocumentItem("file:///a.py", "python", 1, "a = 1\n"))
    assert documents.is_current(snapshot)


@pytest.mark.parametrize(
    "uri", ["untitled:1", "scp://host//srv/m.py", "vscode-notebook-cell:/a.ipynb#X1"]
)
def test_other_schemes_are_left_as_they_are(uri: str) -> None:
    assert spelling(uri) == uri


def test_a_change_of_a_document_that_is_not_open_is_ignored() -> None:
    documents = Documents()
    change(documents, "file:///a.py", 2, partial((0, 0), (0, 0), "x"))
    assert len(documents) == 0


def test_a_notebook_opens_and_closes_its_cells() -> None:
    documents = Documents()
    cell = lsp_types.TextDocumentItem("cell:1", "python", 1, "x = 1\n")
    notebook = lsp_types.NotebookDocument("file:///n.ipynb", "jupyter", 1, [])
    documents.open_notebook(
        lsp_types.DidOpenNotebookDocumentParams(notebook, cell_text_documents=[cell])
    )
    changes = lsp_types.NotebookDocumentCellContentChanges(
        lsp_types.VersionedTextDocumentIdentifier(2, "cell:1"),
        [partial((0, 4), (0, 5), "2")],
    )
    documents.change_notebook(
        lsp_types.DidChangeNotebookDocumentParams(
            lsp_types.VersionedNotebookDocumentIdentifier(2, "file:///n.ipynb"),
            lsp_types.NotebookDocumentChangeEvent(
                cells=lsp_types.NotebookDocumentCellChanges(text_content=[changes])
            ),
        )
    )
    assert text_of(documents, "cell:1") == "x = 2\n"
    documents.close_notebook(
        lsp_types.DidCloseNotebookDocumentParams(
            lsp_types.NotebookDocumentIdentifier("file:///n.ipynb"), []
        )
    )
    assert len(documents) == 0


def test_typing_in_a_large_file_costs_what_was_typed() -> None:
    uri = "file:///a.py"
    documents = opened(uri, "    return value\n" * 60_000)
    change(documents, uri, 2, partial((30_000, 4), (30_000, 4), "x"))
    started = time.process_time()
    for column in range(200):
        change(
            documents, uri, 3, partial((30_000, 4 + column), (30_000, 4 + column), "x")
        )
    assert (time.process_time() - started) / 200 < 0.002
