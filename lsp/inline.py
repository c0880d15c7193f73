"""Ghost text: when to ask, what is good enough to show, what memory knows already."""

import asyncio
import re
import time
from collections.abc import Awaitable

from lsprotocol import types as lsp_types

from .access import line_refusal, refusal
from .debounce import Debounce
from .documents import Document, Documents, spelling
from .layers import Layers
from .offers import Offer, Offers
from .settings import Settings
from .spot import Spot, find_spot, line_text
from .status import Status

AUTOMATIC = lsp_types.InlineCompletionTriggerKind.Automatic
# Clients cancel and ask again in one breath; work that such a pair would start is not
# begun. Seconds.
SETTLE = 0.004
_SEEN_BEFORE = 200  # code points in front of the cursor that the debounce looks at


class Inline:
    """Answers ``textDocument/inlineCompletion``."""

    def __init__(
        self, documents: Documents, offers: Offers, layers: Layers, status: Status
    ) -> None:
        """Work on the server's own parts."""
        self._documents = documents
        self._offers = offers
        self._layers = layers
        self._status = status
        self._rhythms: dict[str, Debounce] = {}
        self._newest: dict[str, object] = {}

    def answer(
        self, params: lsp_types.InlineCompletionParams
    ) -> lsp_types.InlineCompletionList | Awaitable[lsp_types.InlineCompletionList]:
        """Answer from memory at once, or return what will answer."""
        document = self._documents.find(params.text_document.uri)
        if document is None:
            return _no_items()
        settings = self._layers.at(document.home)
        if not settings.inline.enabled:
            return _no_items()
        reason = refusal(document, settings)
        reason = reason or line_refusal(document, params.position.line, settings)
        if reason is not None:
            self._status.disabled(reason, document.uri)
            return _no_items()
        encoding, chosen = (
            self._documents.encoding,
            params.context.selected_completion_info,
        )
        spot = find_spot(document, params.position, encoding, chosen)
        automatic = params.context.trigger_kind == AUTOMATIC
        if automatic and (
            _is_inside_word(spot) or _letters_behind(spot) > settings.inline.max_right
        ):
            return _no_items()
        request = self._newest[spelling(document.uri)] = object()
        n_drawn = 1 if automatic else settings.inline.candidates
        known = self._offers.recall(spot.snapshot, spot.cursor)
        if known is not None and known.n_drawn >= n_drawn:
            return self._show(spot, known, automatic, settings)
        return self._ask(spot, n_drawn, automatic, settings, request)

    def changed(self, document: Document) -> None:
        """Take note that the user typed."""
        rhythm = self._rhythms.setdefault(spelling(document.uri), Debounce())
        rhythm.typed(time.monotonic())

    def closed(self, uri: str) -> None:
        """Forget a document."""
        self._rhythms.pop(spelling(uri), None)
        self._newest.pop(spelling(uri), None)

    async def _ask(
        self,
        spot: Spot,
        n_drawn: int,
        automatic: bool,
        settings: Settings,
        request: object,
    ) -> lsp_types.InlineCompletionList:
        key = spelling(spot.snapshot.uri)
        wait = SETTLE
        if automatic:
            base = settings.inline.debounce_ms / 1000
            before = spot.snapshot.text[: spot.cursor][-_SEEN_BEFORE:]
            wait += self._rhythms.get(key, Debounce()).wait(base, before)
        await asyncio.sleep(wait)
        if (
            not self._documents.is_current(spot.snapshot)
            or self._newest.get(key) is not request
        ):
            return _no_items()
        offer = await self._offers.ask(spot.snapshot, spot.cursor, n_drawn, settings)
        if offer is None or not self._documents.is_current(spot.snapshot):
            return _no_items()
        return self._show(spot, offer, automatic, settings)

    def _show(
        self, spot: Spot, offer: Offer, automatic: bool, settings: Settings
    ) -> lsp_types.InlineCompletionList:
        least = settings.inline.min_confidence
        shown: dict[str, None] = {}
        for insert in offer.inserts:
            text = line_text(spot, insert)
            good = insert.score >= least and any(map(str.isalnum, insert.text))
            if text is None or (automatic and not good):
                continue
            if not shown:
                best = offer._replace(inserts=(insert,))
                self._offers.prepare(spot.snapshot, best, settings)
            shown[text] = None
        return lsp_types.InlineCompletionList(
            [lsp_types.InlineCompletionItem(text, range=spot.range) for text in shown]
        )


def _letters_behind(spot: Spot) -> int:
    return sum(map(str.isalnum, spot.snapshot.text[spot.cursor : spot.line_end]))


def _is_inside_word(spot: Spot) -> bool:
    around = spot.snapshot.text[max(spot.cursor - 1, 0) : spot.cursor + 1]
    return re.fullmatch(r"\w\w", around) is not None


def _no_items() -> lsp_types.InlineCompletionList:
    return lsp_types.InlineCompletionList([])
