"""The life of the server's process: from its first byte to an end that always comes.

It ends after ``exit``, when the client's stream closes, and when the client's process
is gone although its stream is not.
"""

import asyncio
import logging
import os
import socket
from typing import NoReturn

import psutil

from .logs import start_logging
from .session import NielloServer
from .wire import Wire, over_pipes, over_socket

logger = logging.getLogger(__name__)

_LOOK_EVERY = 1.0  # seconds between two looks at the client's process
_PATIENCE = 0.5  # seconds that the engine and the client get to finish


def serve(server: NielloServer, tcp: tuple[str, int] | None = None) -> NoReturn:
    """Serve one client over standard input and output, or over TCP, and exit.

    It leaves with ``os._exit``: a library's thread in the middle of a download or of a
    forward pass must not keep the process of an editor that has gone.
    """
    start_logging(server.layers.settings.log)
    code = 1
    try:
        code = asyncio.run(_serve(server, tcp))
    except KeyboardInterrupt:
        code = 130
    except OSError as error:
        logger.error("cannot serve: %s", error)
        code = 2
    finally:
        logging.shutdown()
        os._exit(code)


async def _serve(server: NielloServer, tcp: tuple[str, int] | None) -> int:
    server.left = asyncio.get_running_loop().create_future()
    if tcp is None:
        wire = over_pipes(server.protocol.receive)
    else:
        wire = over_socket(await _accept(*tcp), server.protocol.receive)
    server.protocol.wire = wire
    watchers = [
        asyncio.create_task(_watch_stream(server, wire)),
        asyncio.create_task(_watch_client(server)),
    ]
    code = await server.left
    for each in watchers:
        each.cancel()
    server.holder.jobs.close(_PATIENCE)
    wire.finish(_PATIENCE)
    return code


async def _accept(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=1) as listener:
        listener.setblocking(False)
        # The port that was chosen is told, so that 0 can be asked for.
        logger.warning("listening on %s:%d", *listener.getsockname()[:2])
        connection, _ = await asyncio.get_running_loop().sock_accept(listener)
        connection.setblocking(True)
        return connection


async def _watch_stream(server: NielloServer, wire: Wire) -> None:
    await wire.closed.wait()
    server.leave(0 if server.protocol.is_shut_down else 1)


async def _watch_client(server: NielloServer) -> None:
    client: psutil.Process | None = None
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        try:
            if client is None and server.process_id is not None:
                client = psutil.Process(server.process_id)
            # is_running knows when the number belongs to another process by now.
            gone = client is not None and (
                not client.is_running() or client.status() == psutil.STATUS_ZOMBIE
            )
        except psutil.NoSuchProcess:
            gone = True
        except psutil.Error:  # It may not be looked at; then it is not watched.
            return
        if gone:
            logger.warning("the client's process has ended")
            server.leave(1)
            return
