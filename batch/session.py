"""An open run: its journal, what it has come to so far, and where that is shown."""

from pathlib import Path

from niello.infill.errors import NielloError

from .apply import Change, apply, change_of, new_text, shell_check
from .desk import Desk, Manner
from .html import write_html
from .journal import Event, Journal
from .report import Tally, as_json, diff_lines


class Session:
    """Takes the events of a run one by one; then writes, reports and ends it."""

    def __init__(self, path: Path, root: Path, manner: Manner, desk: Desk) -> None:
        """Go on with the journal at ``path`` of a run in the folder ``root``."""
        self.path = path
        self._root = root
        self._manner = manner
        self._desk = desk
        self._journal = Journal(path)
        self._tally = Tally()
        self._changes: dict[str, Change] = {}
        self._writes = manner.write or manner.interactive

    def take(self, event: Event) -> None:
        """Record an event and show it."""
        self._journal.add(event)
        self.recall(event)
        if self._manner.json:
            self._desk.out.write(as_json(event))
            self._desk.out.flush()  # Whoever reads along waits for it.
        elif event["event"] == "file" and not self._writes:
            self._show_diff(change_of(event, self._root))
        elif event["event"] == "written":
            self._desk.out.write(f"{event['path']}\n")

    def recall(self, event: Event) -> None:
        """Count an event that is in the journal already."""
        self._tally.add(event)
        if event["event"] == "file":
            change = change_of(event, self._root)
            self._changes[change.name] = change

    def finish(self, verify_cmd: str) -> int:
        """Write the changes if that was asked for; sum up; return the exit status."""
        self._journal.add({"event": "planned"})
        if self._writes:
            verify = shell_check(verify_cmd, self._root) if verify_cmd else None
            changes = list(self._changes.values())
            allow_dirty = self._manner.allow_dirty
            for event in apply(changes, allow_dirty=allow_dirty, verify=verify):
                self.take(event)
        if self._manner.json:
            self._desk.out.write(as_json(self._tally.event() | {"run": self.path.stem}))
        for line in self._tally.lines():
            self._desk.err.write(f"{line}\n")
        if self._changes and not self._writes:
            self._desk.err.write(f"write it with: niello apply {self.path.stem}\n")
        if self._manner.report is not None:
            write_html(self._manner.report, self.path, self._tally)
        return self._tally.status(wrote=self._writes)

    def _show_diff(self, change: Change) -> None:
        try:
            source, text = new_text(change)
        except NielloError as error:
            self._desk.err.write(f"{error}\n")
            return
        lines = diff_lines(source.text, text, change.name, self._desk.colours)
        self._desk.out.writelines(lines)
        self._desk.out.flush()
