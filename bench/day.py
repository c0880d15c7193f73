"""A day of typing in minutes: does memory stay flat, does the event loop stay free?"""

import random
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import psutil

from .client import Client, Position

_SYNC_EVERY = 50  # changes; then the client waits for the server to catch up
_SAMPLE_EVERY = 1000  # changes between two looks at the server's memory
_STAY = 400  # changes in one file before the next


class Day(NamedTuple):
    """What a day cost."""

    changes: int
    requests: int
    seconds: float
    growth_mb: float  # resident memory after the end over that after the warm-up
    peak_mb: float
    longest_cpu_ms: float  # most that one turn of the loop computed
    longest_wait_ms: float  # most that the loop was late, the machine's doing included


class Typist:
    """Types words of a file into it, deletes some, and moves on."""

    def __init__(self, client: Client, files: Mapping[str, str], seed: int) -> None:
        """Take the files to work on, by URI."""
        self._client = client
        self._first, self._files = files, dict(files)
        self._random = random.Random(seed)
        self._versions: dict[str, int] = {}
        self._words = [word for text in files.values() for word in text.split()[:500]]
        self.n_requests = 0

    def type(self, n_changes: int, warm_up: int) -> Day:
        """Make changes, and watch the server."""
        process = psutil.Process(self._client.process.pid)
        started, memory = time.monotonic(), list[float]()
        done = 0
        while done < n_changes:
            uri = self._random.choice(list(self._files))
            self._client.open(uri, self._files[uri])
            self._versions[uri] = 1
            for _ in range(min(_STAY, n_changes - done)):
                self._change(uri)
                done += 1
                if done % _SYNC_EVERY == 0:
                    self._client.request("niello/counters", None)
                    self._client.forget()
                if done % _SAMPLE_EVERY == 0 and done >= warm_up:
                    memory.append(process.memory_info().rss / 1e6)
                if done == warm_up:
                    self._client.request("stub/heartbeat", {})
            self._undo(uri)
            document = {"textDocument": {"uri": uri}}
            self._client.notify("textDocument/didClose", document)
        beat = self._client.request("stub/heartbeat", {})
        memory.append(process.memory_info().rss / 1e6)
        return Day(
            done,
            self.n_requests,
            time.monotonic() - started,
            memory[-1] - memory[0],
            max(memory),
            beat["cpu_ms"],
            beat["wait_ms"],
        )

    def _change(self, uri: str) -> None:
        lines = self._files[uri].split("\n")
        line = min(len(lines) - 1, int(abs(self._random.gauss(0, 5))) + len(lines) // 2)
        column = len(lines[line])
        if self._random.random() < 0.15 and column:
            start: Position = (line, column - 1)
            put, lines[line] = "", lines[line][:-1]
        else:
            start = (line, column)
            put = self._letters()
            lines[line] += put
        self._versions[uri] += 1
        self._client.change(uri, self._versions[uri], start, (line, column), put)
        self._files[uri] = "\n".join(lines)
        if self._random.random() < 0.3:
            self.n_requests += 1
            last = lines[line].split("\n")
            place = (line + len(last) - 1, len(last[-1]))
            asked = self._client.ask_inline(uri, place, automatic=True)
            if self._random.random() < 0.3:  # A pause to look at the answer.
                self._client.wait(asked)

    def _undo(self, uri: str) -> None:
        """Put the file back as it was, as somebody does who tries things out."""
        lines = self._files[uri].split("\n")
        self._files[uri] = self._first[uri]
        self._versions[uri] += 1
        end = (len(lines) - 1, 1_000_000)
        self._client.change(uri, self._versions[uri], (0, 0), end, self._first[uri])

    def _letters(self) -> str:
        word = self._random.choice(self._words)
        return self._random.choice([word[:1], word[:1], word[:1], word + " ", "\n"])


def files_of(texts: Sequence[str], n_files: int) -> dict[str, str]:
    """Return ``n_files`` documents made of ``texts``, taken in turn."""
    return {
        f"file:///day/{number}.py": texts[number % len(texts)]
        for number in range(n_files)
    }
