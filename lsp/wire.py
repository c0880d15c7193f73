"""Bytes in and out: frames of the base protocol over pipes or one TCP connection.

A thread reads and a thread writes, so a client that stalls never holds the event loop.
Messages are handed to the loop one by one, so a flood leaves it time for the rest; but
what arrived together is looked through first, so that a request whose cancellation
stands in the same buffer is never worked on.
"""

import asyncio
import json
import logging
import os
import queue
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

logger = logging.getLogger(__name__)

LARGEST_BODY = 512 * 1024 * 1024
_CHUNK = 1 << 16
_CONTENT_LENGTH = re.compile(rb"(?im)content-length: *(\d{1,11}) *\r?$")

Deliver = Callable[[Any, bool], None]
"""Takes one decoded message (None if it was no JSON) and whether it is cancelled."""


class Frames:
    """Cuts a stream into message bodies; headers that make no sense are passed over."""

    def __init__(self) -> None:
        """Begin with an empty buffer."""
        self._buffer = bytearray()
        self._wanted = -1  # bytes of the body that comes next; -1 in front of a header

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the bodies that ``data`` completes."""
        self._buffer += data
        while True:
            if self._wanted < 0:
                end = self._buffer.find(b"\r\n\r\n")
                if end < 0:
                    del self._buffer[: max(len(self._buffer) - _CHUNK, 0)]
                    return
                self._wanted = _content_length(bytes(self._buffer[:end]))
                del self._buffer[: end + 4]
            elif len(self._buffer) >= self._wanted:
                body = bytes(self._buffer[: self._wanted])
                del self._buffer[: self._wanted]
                self._wanted = -1
                yield body
            else:
                return


def _content_length(header: bytes) -> int:
    # Rests of a frame with a wrong length may stand in front of the name.
    found = _CONTENT_LENGTH.search(header)
    length = int(found[1]) if found else -1
    return length if length <= LARGEST_BODY else -1


class Wire:
    """One client's connection; ``deliver`` is called on the running event loop."""

    def __init__(
        self,
        read: Callable[[int], bytes],
        write: Callable[[bytes], object],
        deliver: Deliver,
    ) -> None:
        """Connect two blocking functions with the running event loop."""
        self._read = read
        self._write = write
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.closed = asyncio.Event()
        self._writer = threading.Thread(target=self._write_all, daemon=True)
        self._writer.start()
        threading.Thread(target=self._read_all, daemon=True).start()

    def send(self, message: dict[str, Any], encode: Callable[[Any], Any]) -> None:
        """Queue one message; ``encode`` makes JSON of what JSON does not know."""
        body = json.dumps(message, default=encode, separators=(",", ":")).encode()
        self._outgoing.put(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def finish(self, patience: float) -> None:
        """Write what is queued, as far as the client takes it, and stop."""
        self._outgoing.put(None)
        self._writer.join(patience)

    def _read_all(self) -> None:
        frames = Frames()
        try:
            while data := self._read(_CHUNK):
                messages = [_decode(body) for body in frames.feed(data)]
                for message, cancelled in _with_cancellations(messages):
                    # Waiting until it is handled keeps a flood in the client's pipe.
                    handled = threading.Event()
                    self._loop.call_soon_threadsafe(
                        self._hand_over, message, cancelled, handled
                    )
                    handled.wait()
        except OSError as error:
            logger.info("the client's end is gone: %s", error)
        except RuntimeError:  # The loop is closed: the server has ended.
            return
        self._close()

    def _hand_over(
        self, message: Any, cancelled: bool, handled: threading.Event
    ) -> None:
        try:
            self._deliver(message, cancelled)
        finally:
            handled.set()

    def _write_all(self) -> None:
        while (data := self._outgoing.get()) is not None:
            try:
                self._write(data)
            except (OSError, ValueError) as error:
                logger.info("the client does not listen any more: %s", error)
                self._close()
                return

    def _close(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self.closed.set)
        except RuntimeError:  # The loop is closed: the server has ended.
            return


def _decode(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _with_cancellations(messages: list[Any]) -> list[tuple[Any, bool]]:
    """Pair each message with whether a later one of the list cancels it."""
    paired: list[tuple[Any, bool]] = []
    cancelled: set[Any] = set()
    for message in reversed(messages):
        fields = message if isinstance(message, dict) else {}
        params = fields.get("params")
        if fields.get("method") == "$/cancelRequest" and isinstance(params, dict):
            cancelled |= {each for each in [params.get("id")] if _names(each)}
        paired.append((message, _names(fields.get("id")) and fields["id"] in cancelled))
    return paired[::-1]


def _names(request_id: Any) -> bool:
    return isinstance(request_id, int | str)


def over_pipes(deliver: Deliver) -> Wire:
    """Speak over standard input and output, which are nobody else's from now on.

    File descriptors are used and not ``sys.stdin``, whose lock a thread that waits for
    input would hold for ever when the interpreter ends.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(incoming, os.O_BINARY)
        msvcrt.setmode(outgoing, os.O_BINARY)
    os.dup2(2, 1)  # A library that prints must not break into a frame.

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(outgoing, data) :]

    return Wire(lambda size: os.read(incoming, size), write, deliver)


def over_socket(connection: socket.socket, deliver: Deliver) -> Wire:
    """Speak over a connected socket."""
    return Wire(connection.recv, connection.sendall, deliver)
