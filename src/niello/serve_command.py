"""`niello serve`, the language server, and `niello doctor`, which says how it is."""

import argparse
import os
import platform
import time
from typing import Any

from niello.infill.canvas import Canvas, Draws, Filler
from niello.infill.context import Context
from niello.infill.errors import NielloError, SettingsError
from niello.lsp.layers import SETTINGS, Layers, read_environment
from niello.lsp.settings import Settings


def add_parsers(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Add the two commands."""
    serve = subparsers.add_parser(
        "serve",
        help="the language server, on standard input and output",
        description="Every setting is a flag; docs/settings.md explains them.",
    )
    serve.add_argument("--tcp", metavar="HOST:PORT", help="serve one client over TCP")
    serve.add_argument("--stdio", action="store_true", help="the default")
    for setting in SETTINGS.values():
        serve.add_argument(
            setting.flag, dest=f"setting {setting.key}", metavar="VALUE", help=None
        )
    serve.set_defaults(run=_serve)
    doctor = subparsers.add_parser(
        "doctor", help="check the installation and the model"
    )
    doctor.set_defaults(run=_doctor)


def _serve(arguments: argparse.Namespace) -> int:
    from niello.lsp.serve import serve
    from niello.lsp.server import create_server

    layers = Layers()
    flags = {
        name.removeprefix("setting "): value
        for name, value in vars(arguments).items()
        if name.startswith("setting ") and value is not None
    }
    problems = layers.replace("environment", read_environment(os.environ))
    problems += layers.replace("flag", flags)
    if problems:
        raise SettingsError("; ".join(problems))
    serve(create_server(_load, layers, _pull), _address(arguments.tcp))


def _address(text: str | None) -> tuple[str, int] | None:
    if text is None:
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit():
        raise SettingsError(f"--tcp {text}: write HOST:PORT, such as 127.0.0.1:8765")
    return host.strip("[]"), int(port)


def _load(settings: Settings, progress: Any) -> Filler:
    from niello.engine.opening import open_filler

    return open_filler(
        settings.model,
        n_threads=settings.threads,
        check=settings.check,
        progress=lambda step, done, total: progress(step, done / max(1, total)),
        say=lambda text: progress(text, None),
    )


def _pull(settings: Settings, progress: Any) -> None:
    from niello.engine.store import Store

    Store().pull(
        settings.model,
        lambda step, done, total: progress(step, done / max(1, total)),
        lambda text: progress(text, None),
    )


def _doctor(arguments: argparse.Namespace) -> int:
    """Print a table of what is here, and after it what to do about each problem."""
    from niello.engine.machine import describe
    from niello.engine.store import Store

    problems: list[str] = []
    for label, value in {
        "python": f"{platform.python_version()} on {platform.platform()}",
        **describe(),
    }.items():
        print(f"{label:10} {value}")
    store = Store()
    print(f"{'models':10} {store.root}")
    try:
        info = store.show("default")
        print(f"{'default':10} {info.state}, {info.title}")
        if info.problem:
            problems.append(str(info.problem))
        else:
            print(f"{'fill':10} {_timed_fill()}")
    except NielloError as error:
        problems.append(str(error))
    for problem in problems:
        print(f"problem    {problem}")
    return 2 if problems else 0


def _timed_fill() -> str:
    from niello.engine.opening import open_filler

    start = time.perf_counter()
    filler = open_filler("default")
    loaded = time.perf_counter()
    context = Context("def add(a, b):\n    return ", "\n\nprint(add(1, 2))\n")
    canvas = Canvas(context, "", 16, lambda text: text.find("\n") + 1 or None)
    filler.fill([canvas], Draws(), lambda: False)
    warm = time.perf_counter()
    ((fill,),) = filler.fill([canvas], Draws(), lambda: False)
    end = time.perf_counter()
    return (
        f"{fill.text.strip()!r}; loaded in {loaded - start:.1f} s,"
        f" cold {warm - loaded:.2f} s, warm {end - warm:.2f} s"
    )
