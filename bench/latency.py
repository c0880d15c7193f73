"""How long a user waits, from the change to the answer, by situation."""

import random
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from .client import Client, Position
from .typing import percentile

_WORDS = (
    *("net", "gross", "total", "first", "last", "open", "paid", "due", "daily"),
    *("weekly", "lower", "upper", "local", "base", "extra", "final", "inner", "late"),
    *("new", "old", "raw", "clean", "short", "long"),
)


class Latency(NamedTuple):
    """Milliseconds from didChange to the answer; of a cancel, to the next job."""

    kind: str
    n: int
    p50: float
    p95: float
    p99: float


class _Page:
    """A document to measure in, and where its cursor is."""

    def __init__(self, client: Client, number: int, n_lines: int) -> None:
        self.client = client
        self.uri = f"file:///latency/{number}.py"
        above = [
            f"def load_{n}(path, limit={n}):\n    with open(path) as file:\n"
            f"        return file.read()[:limit]\n\n"
            for n in range(number % 7, number % 7 + n_lines // 4)
        ]
        self.text = "\n".join(above) + "\n"
        self.line, self.column = self.text.count("\n"), 0
        self.version = 1
        client.open(self.uri, self.text)

    def type(self, text: str) -> float:
        """Type at the cursor and return the time."""
        self.version += 1
        place: Position = (self.line, self.column)
        sent = self.client.change(self.uri, self.version, place, place, text)
        lines = text.split("\n")
        self.line += len(lines) - 1
        self.column = len(lines[-1]) + (self.column if len(lines) == 1 else 0)
        return sent

    def ask(self) -> tuple[float, str]:
        """Ask as an editor does while typing; when it was answered, and with what."""
        request = self.client.ask_inline(self.uri, (self.line, self.column), True)
        items = self.client.wait(request)["result"]["items"]
        return self.client.arrived[request], items[0]["insertText"] if items else ""


def measure(client: Client, kind: str, n_rounds: int) -> Latency:
    """Measure one kind of wait."""
    shuffled = random.Random(0)
    waits = []
    for number in range(n_rounds):
        wait = KINDS[kind](client, shuffled.randrange(10_000) * 100 + number)
        if wait is not None:
            waits.append(wait * 1000)
    if not waits:
        return Latency(kind, 0, float("nan"), float("nan"), float("nan"))
    shares = [percentile(waits, share) for share in (0.5, 0.95, 0.99)]
    return Latency(kind, len(waits), *shares)


def _single(client: Client, number: int) -> float | None:
    page, name = _warm(client, number), _name(number)
    page.type(f"\n\ndef sum_{name}(prices, tax):\n    ")
    page.ask()
    return _asked(page, f"{name}_amount = ")


def _multi(client: Client, number: int) -> float | None:
    page, name = _warm(client, number), _name(number)
    page.type(f"\n\ndef count_{name}_words(path)")
    page.ask()
    return _asked(page, " -> dict[str, int]:  # " + name.replace("_", " "))


def _name(number: int) -> str:
    """Return a name as people give them; digits are a token each."""
    ones, tens = number % len(_WORDS), number // len(_WORDS) % len(_WORDS)
    return f"{_WORDS[tens]}_{_WORDS[ones]}"


def _asked(page: _Page, text: str) -> float | None:
    """Return the wait after typing a text, None if memory knew the answer."""
    fills = page.client.request("niello/counters", None)["fills"]
    sent = page.type(text)
    arrived, _ = page.ask()
    known = page.client.request("niello/counters", None)["fills"] == fills
    return None if known else arrived - sent


def _type_through(client: Client, number: int) -> float | None:
    page = _warm(client, number)
    page.type(f"\n\ndef total_{number}(prices, tax):\n    return ")
    _, text = page.ask()
    if not text.strip():
        return None
    sent = page.type(text[0])
    return page.ask()[0] - sent


def _after_accept(client: Client, number: int) -> float | None:
    page = _warm(client, number)
    page.type(f"\n\ndef total_{number}(prices, tax):\n    return ")
    _, text = page.ask()
    if not text.strip():
        return None
    time.sleep(1.0)  # Somebody looks at it before it is accepted.
    sent = page.type(text)
    return page.ask()[0] - sent


def _cold(client: Client, number: int) -> float | None:
    client.request("workspace/executeCommand", {"command": "niello.clearCache"})
    page = _Page(client, number, 100)
    return _asked(page, f"def total_{number}(prices, tax):\n    return")


def _cancel(client: Client, number: int) -> float | None:
    page = _warm(client, number)
    page.type(f"\n\ndef total_{number}(prices, tax):\n    return")
    request = client.ask_inline(page.uri, (page.line, page.column))
    time.sleep(0.05)
    sent = client.notify("$/cancelRequest", {"id": request})
    client.request("niello/idle", None)
    return time.monotonic() - sent


def _warm(client: Client, number: int) -> _Page:
    page = _Page(client, number, 60)
    page.ask()
    return page


KINDS: Mapping[str, Callable[[Client, int], float | None]] = {
    "warm single-line": _single,
    "warm multi-line": _multi,
    "type-through": _type_through,
    "after accept": _after_accept,
    "cold, 1k tokens": _cold,
    "cancel to free engine": _cancel,
}
