"""`--list`: the targets of a run and nothing else; no model, no journal."""

from niello.infill.errors import NielloError
from niello.infill.files import read_source

from .desk import Desk, Manner
from .document import Document
from .inputs import find_items
from .journal import Event, text_of
from .options import RefactorOptions, recipe_of
from .plan import skipped_event
from .report import Tally, as_json
from .walk import Skipped


def list_targets(options: RefactorOptions, manner: Manner, desk: Desk) -> int:
    """Print each target's place and first line."""
    recipe = recipe_of(options)
    tally = Tally()
    for item in find_items(options, recipe):
        if isinstance(item, Skipped):
            tally.add(skipped_event(item))
            continue
        try:
            document = Document(
                read_source(item.path, options.max_bytes), item.language
            )
        except NielloError as error:
            desk.err.write(f"skipped {error}\n")
            continue
        for number, step in enumerate(recipe.steps):
            for target in document.targets(step):
                event = document.target_event(number, target)
                desk.out.write(as_json(event) if manner.json else _line(event))
    for line in tally.named:
        desk.err.write(f"{line}\n")
    return 0


def _line(event: Event) -> str:
    """Return a target as a line whose first word `--at` takes."""
    match event["range"]:
        case {
            "start": {"line": int(line), "column": int(column)},
            "end": {"line": int(end_line), "column": int(end_column)},
        }:
            place = f"{line + 1}:{column + 1}-{end_line + 1}:{end_column + 1}"
    head = text_of(event, "old").strip().partition("\n")[0][:60]
    name = f" {event['name']}" if event["name"] else ""
    return f"{event['path']}:{place}{name}  {head}\n"
