"""A small model hub over local HTTP: files with Range, a listing, faults on demand."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Hub:
    """What the server offers, what it was asked, and how it shall misbehave."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.asked: list[tuple[str, str | None, str | None]] = []
        self.cut_after: list[int] = []
        self.knows_range = True
        self.pause_after: int | None = None
        self.go_on = threading.Event()
        self.endpoint = ""

    def listing(self) -> bytes:
        siblings = [
            {
                "rfilename": path.split("/", 2)[2],
                "size": len(content),
                "lfs": {
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "size": len(content),
                    "pointerSize": 1,
                },
            }
            for path, content in self.files.items()
        ]
        return json.dumps({"id": "owner/name", "siblings": siblings}).encode()


@contextmanager
def running(files: Mapping[str, bytes]) -> Iterator[Hub]:
    """Serve `files`, named OWNER/NAME/FILE, until the block ends."""
    hub = Hub(files)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            hub.asked.append((self.path, wanted, self.headers.get("Authorization")))
            if self.path.startswith("/api/models/"):
                self._answer(200, hub.listing())
                return
            content = hub.files.get(
                self.path.lstrip("/").replace("resolve/main/", "", 1)
            )
            if content is None:
                self._answer(404, b"")
            elif wanted and hub.knows_range:
                start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                self._answer(206, content[start:])
            else:
                self._answer(200, content)

        def _answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if status in (200, 206) and hub.cut_after:
                content = content[: hub.cut_after.pop(0)]
                self.close_connection = True
            if hub.pause_after and len(content) > hub.pause_after:
                self.wfile.write(content[: hub.pause_after])
                hub.go_on.wait(60)
                content = content[hub.pause_after :]
            with suppress(ConnectionError):
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    return Handler
