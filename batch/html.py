"""`--report out.html`: a run for those who would rather look; made from its journal."""

import html
import itertools
from importlib.resources import files
from pathlib import Path
from string import Template

from niello.infill.errors import NielloError, SettingsError

from .apply import Change, change_of, new_text
from .journal import Event, read_events, text_of
from .report import Colours, Tally, diff_lines


def write_html(path: Path, journal: Path, tally: Tally) -> None:
    """Write one page that needs nothing else: summary, targets, diffs."""
    rows: dict[str, list[str]] = {}
    changes: dict[str, Change] = {}
    root = Path.cwd()
    for event in read_events(journal):
        match event["event"]:
            case "run":
                root = Path(text_of(event, "root"))
            case "target":
                rows.setdefault(text_of(event, "path"), []).append(_row(event))
            case "file":
                changes[text_of(event, "path")] = change_of(event, root)
    sections = []
    for name, cells in rows.items():
        diff = _diff(changes[name]) if name in changes else ""
        sections.append(
            f"<h2>{html.escape(name)}</h2><table><tr><th>place<th>name<th>end"
            f"<th>confidence<th>tries<th>seconds</tr>{''.join(cells)}</table>{diff}"
        )
    page = Template((files("niello.batch") / "report.html").read_text("utf-8"))
    text = page.substitute(
        title=html.escape(journal.stem),
        summary="<br>".join(html.escape(line) for line in tally.lines()),
        sections="\n".join(sections),
    )
    try:
        path.write_text(text, "utf-8", errors="backslashreplace")
    except OSError as error:
        raise SettingsError(f"--report: {path}: {error.strerror}") from error


def _row(event: Event) -> str:
    match event:
        case {
            "range": {"start": {"line": int(line), "column": int(column)}},
            "confidence": int() | float() as confidence,
            "seconds": int() | float() as seconds,
        }:
            pass
        case _:
            raise SettingsError("the journal has a damaged target; run it anew")
    gate = text_of(event, "gate")
    text = html.escape(text_of(event, "new"))
    return (
        f'<tr class="{"refused" if gate else "accepted"}" title="{text}">'
        f"<td>{line + 1}:{column + 1}"
        f"<td>{html.escape(text_of(event, 'name'))}<td>{gate or 'accepted'}"
        f'<td><meter value="{confidence}"></meter> {confidence:.2f}'
        f"<td>{event['tries']}<td>{seconds:.2f}</tr>"
    )


def _diff(change: Change) -> str:
    try:
        source, text = new_text(change)
    except NielloError as error:
        return f"<p>{html.escape(str(error))}</p>"
    lines = []
    diff = diff_lines(source.text, text, change.name, Colours())
    for line in itertools.islice(diff, 2, None):  # The heading names the file.
        kind = {"+": "new", "-": "old", "@": "place"}.get(line[0], "same")
        lines.append(f'<span class="{kind}">{html.escape(line)}</span>')
    return f"<pre>{''.join(lines)}</pre>"
