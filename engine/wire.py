"""One POST over HTTP that can be broken off while the server still works.

Breaking off closes the connection, at which a server stops computing; a redirect is not
followed, since it would carry a key elsewhere.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from socket import SHUT_RDWR
from threading import Thread
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

_LARGEST = 8 << 20  # bytes of an answer
_GLANCE = 0.02  # seconds between looks at the stop flag


def post(
    url: SplitResult,
    content: bytes,
    headers: Mapping[str, str],
    timeout: float,
    stop: Callable[[], bool],
) -> tuple[int, bytes] | None:
    """Return status and body of the answer, None once ``stop`` says so."""
    connection = _connect(url, timeout)
    answers: SimpleQueue[tuple[int, bytes] | Exception] = SimpleQueue()

    def exchange() -> None:
        try:
            target = connection.target_of(url)
            connection.http.request("POST", target, content, dict(headers))
            response = connection.http.getresponse()
            answers.put((response.status, response.read(_LARGEST)))
        except (OSError, HTTPException, ValueError, AttributeError) as error:
            # Closed from outside, a connection fails in many ways.
            answers.put(error)

    Thread(target=exchange, daemon=True).start()
    try:
        while not stop():
            try:
                answer = answers.get(timeout=_GLANCE)
            except Empty:
                continue
            if isinstance(answer, Exception):
                raise answer
            return answer
    finally:
        connection.close()
    return None


class _Connection(NamedTuple):
    """A connection, direct or through the environment's proxy."""

    http: HTTPConnection
    whole_address: bool  # a plain proxy is given the whole address

    def target_of(self, url: SplitResult) -> str:
        path = url._replace(scheme="", netloc="", fragment="").geturl() or "/"
        whole = f"{url.scheme}://{url.netloc}{path}"
        return whole if self.whole_address else path

    def close(self) -> None:
        sock = self.http.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(SHUT_RDWR)
        self.http.close()


def _connect(url: SplitResult, timeout: float) -> _Connection:
    host, port = url.hostname or "", url.port
    secure = url.scheme == "https"
    proxy = getproxies().get(url.scheme)
    if proxy and not proxy_bypass(host):
        through = urlsplit(proxy if "//" in proxy else f"//{proxy}")
        if secure:
            tunnel = HTTPSConnection(
                through.hostname or "", through.port, timeout=timeout
            )
            tunnel.set_tunnel(host, port or 443)
            return _Connection(tunnel, False)
        plain = HTTPConnection(through.hostname or "", through.port, timeout=timeout)
        return _Connection(plain, True)
    kind = HTTPSConnection if secure else HTTPConnection
    return _Connection(kind(host, port, timeout=timeout), False)
