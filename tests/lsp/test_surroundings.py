"""What the model sees beside a document: other open files, and a notebook's cells."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp_types

from niello.bench.client import Client
from niello.infill.canvas import Canvas, Draws, Fill, StopFlag, never
from niello.infill.context import Context
from niello.infill.snapshot import Snapshot
from niello.lsp.counters import Counting, Counts
from niello.lsp.documents import Documents
from niello.lsp.layers import Layers
from niello.lsp.offers import Offers
from niello.lsp.settings import Settings, Window
from niello.lsp.surroundings import Surroundings
from niello.lsp.trees import Trees

Start = Callable[..., Client]
URI = "file:///w/pkg/here.py"
OTHER = "file:///w/pkg/orders.py"
ORDERS = '''\
def total_price(orders, discount):
    """Sum the price of all orders after discount."""
    return sum(order.price for order in orders) * (1 - discount)
'''
HERE = "def mean_price(orders, discount):\n    price = \n"
PLACE = (1, 12)


class Prompts:
    """Notes each context it is asked for."""

    def __init__(self) -> None:
        self.seen: list[Context] = []
        self.warmed = asyncio.Event()

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        self.seen += [each.context for each in canvases]
        return [[Fill("1", -0.1, 1, "end")] for _ in canvases]

    def warm(self, context: Context, stop: StopFlag) -> None:
        self.seen.append(context)
        self.warmed.set()


class HeldPrompts:
    """Runs work at once."""

    ready = True

    def __init__(self, prompts: Prompts) -> None:
        self.prompts = prompts

    async def run(self, work: Any, key: str, priority: Any) -> Any:
        return work(Counting(self.prompts, Counts()), never)


def opened(*files: tuple[str, str]) -> Documents:
    documents = Documents()
    for uri, text in files:
        documents.open(lsp_types.TextDocumentItem(uri, "python", 1, text))
    return documents


def here(documents: Documents) -> Snapshot:
    document = documents.find(URI)
    assert document is not None
    return document.snapshot()


def extra(
    documents: Documents,
    settings: Settings | None = None,
    around: Surroundings | None = None,
    cursor: int | None = None,
) -> str:
    around = around or Surroundings(documents, Layers())
    snapshot = here(documents)
    scene = around.look(snapshot, settings or Settings())
    return around.view(
        scene, len(snapshot.text) - 1 if cursor is None else cursor
    ).extra


def type_into(documents: Documents, uri: str, text: str) -> None:
    whole = lsp_types.TextDocumentContentChangeWholeDocument(text)
    identifier = lsp_types.VersionedTextDocumentIdentifier(2, uri)
    documents.change(lsp_types.DidChangeTextDocumentParams(identifier, [whole]))


def prompts_of(client: Client, scratch: Path) -> list[dict[str, str]]:
    client.request("stub/settle", {})
    names = ("prefix", "given", "suffix", "extra")
    lines = (scratch / "server0" / "record").read_text("utf-8").splitlines()
    return [dict(zip(names, json.loads(line), strict=True)) for line in lines]


def begin(start: Start, **initialize: Any) -> Client:
    client = start(texts=["total_price(orders, discount)"])
    client.initialize(**initialize)
    client.wait_for_note("niello/status", kind="ready")
    return client


@pytest.mark.e2e
def test_the_prompt_has_the_other_file_s_lines_in_front(
    start: Start, tmp_path: Path
) -> None:
    client = begin(start)
    client.open(OTHER, ORDERS)
    client.open(URI, HERE)
    client.inline(URI, PLACE)
    prompt = prompts_of(client, tmp_path)[0]
    assert prompt["extra"] == f"# pkg/orders.py\n{ORDERS}\n# pkg/here.py\n"


@pytest.mark.e2e
def test_a_secret_file_s_text_gets_into_no_prompt(start: Start, tmp_path: Path) -> None:
    client = begin(start)
    client.open("file:///w/secrets/orders.py", ORDERS)
    client.open(URI, HERE)
    client.inline(URI, PLACE)
    (prompt, *_) = prompts_of(client, tmp_path)
    assert prompt["extra"] == ""


@pytest.mark.e2e
def test_a_cell_sees_those_before_it_and_is_what_an_edit_changes(
    start: Start, tmp_path: Path
) -> None:
    client = begin(start)
    open_notebook(client, "import numpy\n", "numpy.")
    (item,) = client.inline("cell:1", (0, 6), automatic=True)
    (prompt, *_) = prompts_of(client, tmp_path)
    assert prompt["prefix"].startswith("import numpy\n")
    assert item["range"]["start"]["line"] == 0
    assert item["insertText"].startswith("total_price")


@pytest.mark.e2e
def test_an_action_in_a_cell_edits_that_cell(start: Start, tmp_path: Path) -> None:
    support = {"codeAction": {"resolveSupport": {"properties": ["edit"]}}}
    client = begin(start, capabilities={"textDocument": support})
    open_notebook(client, "import numpy\n", "x = ")
    place = {"line": 0, "character": 4}
    data = {"edit": "fill", "uri": "cell:1", "range": {"start": place, "end": place}}
    action = {"title": "", "data": data}
    edit = client.request("codeAction/resolve", action)["edit"]
    (prompt, *_) = prompts_of(client, tmp_path)
    assert prompt["prefix"].startswith("import numpy\n")
    assert edit["changes"]["cell:1"][0]["range"] == {"start": place, "end": place}


@pytest.mark.e2e
def test_a_changed_cell_makes_others_ask_anew(start: Start, tmp_path: Path) -> None:
    client = begin(start, initializationOptions={"inline": {"ahead": False}})
    open_notebook(client, "import numpy\n", "numpy.")
    client.inline("cell:1", (0, 6), automatic=True)
    changes = {
        "document": {"uri": "cell:0", "version": 2},
        "changes": [{"text": "import numpy, scipy\n"}],
    }
    params = {
        "notebookDocument": {"uri": "file:///n.ipynb", "version": 2},
        "change": {"cells": {"textContent": [changes]}},
    }
    client.notify("notebookDocument/didChange", params)
    client.inline("cell:1", (0, 6), automatic=True)
    prompt = prompts_of(client, tmp_path)[-1]
    assert prompt["prefix"].startswith("import numpy, scipy\n")


def open_notebook(client: Client, *texts: str) -> None:
    items = [
        {"uri": f"cell:{n}", "languageId": "python", "version": 1, "text": text}
        for n, text in enumerate(texts)
    ]
    cells = [{"kind": 2, "document": each["uri"]} for each in items]
    notebook = {
        "uri": "file:///n.ipynb",
        "notebookType": "jupyter-notebook",
        "version": 1,
        "cells": cells,
    }
    params = {"notebookDocument": notebook, "cellTextDocuments": items}
    client.notify("notebookDocument/didOpen", params)


def test_typing_keeps_what_was_taken_of_other_files() -> None:
    documents = opened((OTHER, ORDERS), (URI, HERE))
    around = Surroundings(documents, Layers())
    first = extra(documents, around=around)
    type_into(documents, URI, HERE + "    unrelated = words, of, another, kind\n" * 8)
    assert first and extra(documents, around=around) == first


def test_a_cursor_far_away_looks_again() -> None:
    text = HERE + "\n" * 200 + "unrelated = words, of, another, kind\n" * 30
    documents = opened((OTHER, ORDERS), (URI, text))
    around = Surroundings(documents, Layers())
    assert extra(documents, around=around, cursor=len(HERE))
    assert extra(documents, around=around) == ""


def test_a_change_of_the_other_file_is_seen() -> None:
    documents = opened((OTHER, ORDERS), (URI, HERE))
    around = Surroundings(documents, Layers())
    extra(documents, around=around)
    type_into(documents, OTHER, ORDERS.replace("Sum", "Add up"))
    assert "Add up" in extra(documents, around=around)


def test_no_tokens_for_other_files_takes_none() -> None:
    settings = Settings(window=Window(extra_tokens=0))
    assert extra(opened((OTHER, ORDERS), (URI, HERE)), settings) == ""


def test_another_view_of_the_same_file_is_not_another_file() -> None:
    commit = f"git:{URI.removeprefix('file://')}?ref=HEAD"
    assert extra(opened((commit, ORDERS), (URI, HERE))) == ""


async def test_a_context_computed_ahead_is_the_one_that_is_asked_for() -> None:
    documents = opened((OTHER, ORDERS), (URI, HERE))
    prompts, snapshot = Prompts(), here(documents)
    around = Surroundings(documents, Layers())
    offers = Offers(HeldPrompts(prompts), Trees(), around)  # type: ignore[arg-type]
    offers.warm_soon(snapshot, len(HERE) - 1, Settings())
    await prompts.warmed.wait()
    await offers.ask(snapshot, len(HERE) - 1, 1, Settings())
    ahead, asked = prompts.seen
    assert ahead.extra and ahead == asked


def test_a_cell_put_between_two_is_seen_between_them() -> None:
    documents = Documents()
    items = [lsp_types.TextDocumentItem(name, "python", 1, name) for name in "ac"]
    code = lsp_types.NotebookCellKind.Code
    cells = [lsp_types.NotebookCell(code, each.uri) for each in items]
    notebook = lsp_types.NotebookDocument("file:///n.ipynb", "jupyter", 1, cells)
    documents.open_notebook(lsp_types.DidOpenNotebookDocumentParams(notebook, items))
    structure = lsp_types.NotebookDocumentCellChangeStructure(
        lsp_types.NotebookCellArrayChange(1, 0, [lsp_types.NotebookCell(code, "b")]),
        [lsp_types.TextDocumentItem("b", "python", 1, "b")],
    )
    change = lsp_types.NotebookDocumentCellChanges(structure)
    documents.change_notebook(
        lsp_types.DidChangeNotebookDocumentParams(
            lsp_types.VersionedNotebookDocumentIdentifier(2, notebook.uri),
            lsp_types.NotebookDocumentChangeEvent(cells=change),
        )
    )
    assert [each.uri for each in documents.cells_of(notebook.uri)] == ["a", "b", "c"]


def test_the_cells_of_a_secret_notebook_are_left_alone() -> None:
    documents = opened((URI, HERE), ("cell:0", ORDERS))
    cell = documents.find("cell:0")
    assert cell is not None
    cell.notebook = "file:///w/secrets/n.ipynb"
    assert extra(documents) == ""


def test_a_file_that_its_own_folder_keeps_secret_is_not_shown() -> None:
    documents, layers = opened((OTHER, ORDERS), (URI, HERE)), Layers()
    layers.set_roots(["file:///w", "file:///w/pkg"])
    around = Surroundings(documents, layers)
    assert extra(documents, around=around)
    layers.replace("project", {"disabled_globs": ["orders.py"]}, "file:///w/pkg")
    assert extra(documents, around=around) == ""
