"""`niello models try`: watch a canvas denoise in the terminal, pass by pass.

Tokens are coloured by how sure the model was of them, masks are boxes. Where standard
output is no terminal each pass is printed below the one before.
"""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from niello.engine.families.length import POLICIES
from niello.engine.families.published import hub_id_of
from niello.engine.store import Store
from niello.fill_command import Place, at_temperature, open_place
from niello.infill.canvas import Canvas, Draws, never
from niello.infill.parse import parse
from niello.infill.propose import Options, draw_canvas
from niello.infill.span import find_span

if TYPE_CHECKING:  # The model's own modules are imported when a model is tried.
    from niello.engine.families.frames import Frame

_AROUND = 4  # lines of prefix and suffix that are shown
_MASK = "▒"
_COLOURS = ((0.9, "green"), (0.6, "yellow"), (0.3, "dark_orange"), (0.0, "red"))


def add_parser(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Add the `try` action to those of `niello models`."""
    parser = subparsers.add_parser(
        "try",
        help="watch a diffusion model fill a place, pass by pass",
        description="Lines and columns count from 1. The file is not changed.",
    )
    parser.add_argument("name", metavar="NAME", help="a fetched model, or its folder")
    parser.add_argument("place", metavar="FILE:LINE[:COL]")
    parser.add_argument("--language", help="needed where the name does not tell it")
    parser.add_argument("--room", type=int, default=48, help="most tokens")
    parser.add_argument("--masks", type=int, default=32, help="masks to start with")
    parser.add_argument("--length", default="", choices=["", *POLICIES])
    parser.add_argument("--steps", type=int, default=0, help="passes, 0: as needed")
    parser.add_argument("--bits", type=int, default=16, choices=[4, 8, 16])
    parser.add_argument("--pause", type=float, default=0.0, help="seconds a pass")
    parser.add_argument("--temperature", type=at_temperature, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.set_defaults(run=_try)


def _try(arguments: argparse.Namespace) -> int:
    from niello.engine.families.decoding import Decoding
    from niello.engine.families.frames import open_shown
    from niello.engine.families.place import choose_place

    place = open_place(arguments.place, arguments.language)
    canvas = _canvas(place, arguments.room)
    folder: Path = Store().path(hub_id_of(arguments.name))
    decoding = Decoding(
        length=arguments.length, canvas=arguments.masks, steps=arguments.steps
    )
    console = Console()
    with Live(console=console, auto_refresh=False) as live:

        def show(frame: "Frame") -> None:
            picture = draw(canvas, frame)
            if console.is_terminal:
                live.update(picture, refresh=True)
            else:
                console.print(picture)
            time.sleep(arguments.pause)

        filler = open_shown(folder, show, decoding, choose_place(arguments.bits))
        draws = Draws(1, arguments.temperature, arguments.seed)
        ((fill,),) = filler.fill([canvas], draws, never)
    console.print(
        f"{fill.n_tokens} tokens in {fill.forwards} passes, ended by {fill.reason}",
        highlight=False,
    )
    return 0


def _canvas(place: Place, room: int) -> Canvas:
    parsed = parse(place.snapshot.text, place.snapshot.language)
    span = find_span(parsed, place.cursor)
    return draw_canvas(parsed, span, Options(room=room), span.end - span.start)


def draw(canvas: Canvas, frame: "Frame") -> Group:
    """Return a canvas between the nearest lines of its prefix and suffix."""
    above = "".join(canvas.context.prefix.splitlines(keepends=True)[-_AROUND:])
    below = "".join(canvas.context.suffix.splitlines(keepends=True)[:_AROUND])
    text = Text(above + canvas.given, "dim")
    for piece in frame.pieces:
        if piece.masked:
            text.append(_MASK, "bright_black")
        else:
            text.append(piece.text, f"not dim {colour(piece.probability)}")
    text.append(below, "dim")
    title = f"pass {frame.forwards}: {frame.n_decided} of {len(frame.pieces)} decided"
    return Group(Text(title, "bold"), text)


def colour(probability: float) -> str:
    """Return the colour of a token by how sure the model was of it."""
    return next(name for least, name in _COLOURS if probability >= least)
