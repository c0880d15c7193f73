"""The server's log, on standard error and in a file, without the user's code."""

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

import platformdirs

from .settings import Log

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_BYTES, _OLD_FILES = 1_000_000, 2


class _Discreet(logging.Formatter):
    """Leaves tracebacks out: their last line may quote the user's code."""

    def formatException(self, ei: object) -> str:
        return ""


def start_logging(settings: Log) -> None:
    """Send the log of this process where the settings say."""
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    path = log_file(settings)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = RotatingFileHandler(
            path, maxBytes=_BYTES, backupCount=_OLD_FILES, encoding="utf-8", delay=False
        )
        handlers.append(file)
    except OSError:  # A log that cannot be written is no reason not to serve.
        pass
    formatter = logging.Formatter(_FORMAT) if settings.code else _Discreet(_FORMAT)
    for handler in handlers:
        handler.setFormatter(formatter)
    logging.basicConfig(handlers=handlers, level=logging.WARNING, force=True)
    set_log_level(settings)


def set_log_level(settings: Log) -> None:
    """Take over the level; other libraries say warnings only, whatever it is."""
    logging.getLogger("niello").setLevel(settings.level.upper())


def log_file(settings: Log) -> Path:
    """Return the file that holds the log."""
    if settings.file:
        return Path(settings.file).expanduser()
    return platformdirs.user_log_path("niello") / "server.log"
