"""The engine as the server holds it: loaded on the engine's own thread, and survived.

Whatever an engine raises is answered with nothing, said to the user once, and gone on
from; memory that ran out is freed first.
"""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar, runtime_checkable

from niello.infill.canvas import Filler, StopFlag
from niello.infill.errors import NielloError

from .counters import Counting, Counts
from .jobs import Jobs, Priority
from .protocol import report
from .settings import Settings
from .status import Progress, Status

logger = logging.getLogger(__name__)

T = TypeVar("T")
LoadFiller = Callable[[Settings, Progress], Filler]

# A request that comes while a model is loaded waits this long and is then answered with
# nothing: a quick change of models goes unnoticed, a slow one holds nobody.
PATIENCE = 0.3


@runtime_checkable
class Forgetful(Protocol):
    """An engine that can give its caches back."""

    def clear_caches(self) -> None:
        """Free what is kept of earlier contexts."""
        ...


class Holder:
    """The one engine, its queue and its state."""

    def __init__(self, load: LoadFiller, status: Status) -> None:
        """Begin with none loaded."""
        self.jobs = Jobs()
        self.counts = Counts()
        self._load = load
        self._status = status
        self._filler: Filler | None = None
        self._loading: asyncio.Future[None] | None = None
        self._n_busy = 0

    @property
    def ready(self) -> bool:
        """Whether an engine is loaded."""
        return self._filler is not None

    def load(self, settings: Settings | Awaitable[Settings]) -> None:
        """Load the engine that ``settings`` name, in the place of the one held."""
        self._loading = asyncio.ensure_future(self._load_now(settings))

    async def run(
        self,
        work: Callable[[Counting, StopFlag], T],
        key: str,
        priority: Priority = Priority.INTERACTIVE,
    ) -> T | None:
        """Run ``work`` on the engine; None if it came to nothing, for any reason."""
        if self._loading is not None and not self._loading.done():
            await asyncio.wait([self._loading], timeout=PATIENCE)
            if not self._loading.done():
                return None

        def with_filler(stop: StopFlag) -> T | None:
            if self._filler is None:
                return None
            return work(Counting(self._filler, self.counts), stop)

        visible = priority == Priority.INTERACTIVE
        self._count(visible)
        try:
            return await self.jobs.submit(with_filler, priority, key)
        except Exception as error:
            self._survive(error)
            return None
        finally:
            self._count(-visible)

    def forget(self) -> None:
        """Have the engine drop its cache, after the work that is queued."""
        self.jobs.submit(lambda stop: self._free(), Priority.BATCH)

    async def _load_now(self, wanted: Settings | Awaitable[Settings]) -> None:
        loop = asyncio.get_running_loop()
        settings = wanted if isinstance(wanted, Settings) else await wanted
        self._status.loading("loading the model", None)

        def progress(message: str, fraction: float | None) -> None:
            loop.call_soon_threadsafe(self._status.loading, message, fraction)

        def load(stop: StopFlag) -> None:
            self._filler = None  # The old engine's memory is the new one's room.
            self._filler = self._load(settings, progress)

        try:
            await self.jobs.submit(load, Priority.INTERACTIVE, "load")
        except Exception as error:
            self._survive(error)
        else:
            self._status.ready()

    def _survive(self, error: Exception) -> None:
        report("the engine", error)
        if isinstance(error, NielloError):
            self._status.error(str(error))
        elif _is_out_of_memory(error):
            self.forget()
            self._status.error(
                "The model ran out of memory. Lower window.prefix_tokens or room in "
                "the settings, or choose a smaller model."
            )
        else:
            self._status.error(
                f"The model failed ({type(error).__name__}). The command "
                "niello.restartEngine loads it anew; the log says more."
            )

    def _count(self, step: int) -> None:
        before, self._n_busy = self._n_busy, self._n_busy + step
        if step and self.ready and not (before and self._n_busy):
            (self._status.busy if self._n_busy else self._status.ready)()

    def _free(self) -> None:
        if isinstance(self._filler, Forgetful):
            self._filler.clear_caches()
        gc.collect()


def _is_out_of_memory(error: BaseException) -> bool:
    # torch has its own error for devices, and torch is not imported here.
    return isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__
