"""`niello bench`: the measurements, each a module with a ``main`` of its own."""

import argparse
import importlib
from collections.abc import Sequence
from typing import Any, cast

MEASUREMENTS = {
    "infill": "quality and passes on HumanEval-Infilling, beside the plain model",
    "code": "fills of real files in all languages, against what stood there",
    "typing": "a file typed through the real server, keystroke by keystroke",
    "spans": "spans, stop rules and judge on real files, without a model",
    "server": "the server under load: a day of typing, latencies",
    "next_edit": "how often a followed change is right, on real code",
    "fuzz": "the server under messages of every kind",
    "refactor": "the shipped recipes on real packages",
}


def add_parser(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Add the `bench` command; what follows a measurement's name is its own."""
    bench = subparsers.add_parser(
        "bench",
        help="measure quality and speed",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"{name:10} {text}" for name, text in MEASUREMENTS.items()),
    )
    bench.add_argument("measurement", choices=MEASUREMENTS)
    bench.add_argument("options", nargs=argparse.REMAINDER)
    bench.set_defaults(
        run=lambda arguments: run(arguments.measurement, arguments.options)
    )


def run(measurement: str, options: Sequence[str]) -> int:
    """Run one measurement with its own options."""
    module = importlib.import_module(f"niello.bench.{measurement}")
    return cast(int, module.main(options))
