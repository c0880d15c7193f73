"""Candidates in the ordinary completion menu, for clients without ghost text."""

import re
from collections.abc import Awaitable

from lsprotocol import types as lsp_types

from .access import line_refusal, refusal
from .convert import to_units
from .documents import Documents
from .layers import Layers
from .offers import Insert, Offer, Offers
from .settings import Settings
from .spot import Spot, find_spot
from .status import Status

TRIGGERS = [".", "(", "[", "{", "=", ":", ",", " "]
_WORD = re.compile(r"\w*\Z")
_TICKS = re.compile("`+")
_LABEL_CHARS = 80


class Completion:
    """Answers ``textDocument/completion`` and its resolve."""

    def __init__(
        self, documents: Documents, offers: Offers, layers: Layers, status: Status
    ) -> None:
        """Work on the server's own parts."""
        self._documents = documents
        self._offers = offers
        self._layers = layers
        self._status = status
        self.has_ghost_text = False  # whether the client shows inline completions

    def answer(
        self, params: lsp_types.CompletionParams
    ) -> lsp_types.CompletionList | Awaitable[lsp_types.CompletionList]:
        """Answer from memory at once, or return what will answer."""
        document = self._documents.find(params.text_document.uri)
        if document is None:
            return lsp_types.CompletionList(False, [])
        settings = self._layers.at(document.home)
        wanted = settings.completion.enabled
        if wanted == "off" or (wanted == "auto" and self.has_ghost_text):
            return lsp_types.CompletionList(False, [])
        reason = refusal(document, settings)
        reason = reason or line_refusal(document, params.position.line, settings)
        if reason is not None:
            self._status.disabled(reason, document.uri)
            return lsp_types.CompletionList(False, [])
        spot = find_spot(document, params.position, self._documents.encoding)
        known = self._offers.recall(spot.snapshot, spot.cursor)
        if known is not None:
            return self._list(spot, known)
        return self._ask(spot, settings)

    def resolve(self, item: lsp_types.CompletionItem) -> lsp_types.CompletionItem:
        """Show the whole text beside the menu."""
        if isinstance(item.text_edit, lsp_types.TextEdit):
            text = item.text_edit.new_text
            fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
            item.documentation = lsp_types.MarkupContent(
                lsp_types.MarkupKind.Markdown, f"{fence}\n{text}\n{fence}"
            )
        return item

    async def _ask(self, spot: Spot, settings: Settings) -> lsp_types.CompletionList:
        offer = None
        if self._documents.is_current(spot.snapshot):
            offer = await self._offers.ask(spot.snapshot, spot.cursor, 1, settings)
        if offer is None or not self._documents.is_current(spot.snapshot):
            # Without an answer the client must ask again at the next letter.
            return lsp_types.CompletionList(True, [])
        return self._list(spot, offer)

    def _list(self, spot: Spot, offer: Offer) -> lsp_types.CompletionList:
        items = [self._item(spot, each, n) for n, each in enumerate(offer.inserts)]
        # What is offered depends on every letter, so the client must not filter on.
        return lsp_types.CompletionList(True, [each for each in items if each])

    def _item(
        self, spot: Spot, insert: Insert, rank: int
    ) -> lsp_types.CompletionItem | None:
        text, encoding = spot.snapshot.text, self._documents.encoding
        behind = spot.cursor + insert.replaced
        if behind > spot.line_end:
            return None  # An edit of the menu may not reach into other lines.
        before = text[spot.line_start : spot.cursor]
        word = "".join(_WORD.findall(before))
        left = before.removesuffix(word)
        first_line = (word + insert.text.strip()).splitlines()[0]
        line = spot.range.start.line
        shown = lsp_types.Range(
            lsp_types.Position(line, to_units(left, encoding)),
            lsp_types.Position(
                line, to_units(text[spot.line_start : behind], encoding)
            ),
        )
        return lsp_types.CompletionItem(
            label=first_line[:_LABEL_CHARS],
            kind=lsp_types.CompletionItemKind.Text,
            detail="Niello",
            sort_text=f"{rank:04}",
            filter_text=first_line,
            insert_text_format=lsp_types.InsertTextFormat.PlainText,
            # The text carries its own indentation; adjusting it would double that.
            insert_text_mode=lsp_types.InsertTextMode.AsIs,
            text_edit=lsp_types.TextEdit(shown, word + insert.text),
        )
