"""What the user sees of a run: diffs, progress, events as JSON, and the summary."""

import difflib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from .journal import Event, number_of, text_of
from .plan import Progress


class Colours(NamedTuple):
    """Escape sequences around parts of a diff; empty where nobody wants them."""

    head: str = ""
    place: str = ""
    old: str = ""
    new: str = ""
    reset: str = ""


ANSI = Colours("\x1b[1m", "\x1b[36m", "\x1b[31m", "\x1b[32m", "\x1b[0m")


def diff_lines(before: str, after: str, path: str, colours: Colours) -> Iterator[str]:
    """Yield a unified diff that `git apply` takes."""
    old, new = _lines(before), _lines(after)
    marks = {"-": colours.old, "+": colours.new, "@": colours.place}
    for number, line in enumerate(
        difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=3)
    ):
        colour = colours.head if number < 2 else marks.get(line[0], "")
        body = line.rstrip("\n")
        yield f"{colour}{body}{colours.reset if colour else ''}\n"
        if not line.endswith("\n"):
            yield "\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    # `str.splitlines` would also cut at form feeds and the like.
    return re.findall(r"[^\n]*\n|[^\n]+", text)


class Tally:
    """What happened so far, counted from the events."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.gates: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.files: Counter[str] = Counter()  # planned, written, refused, rolled back
        self.named: list[str] = []  # lines about single files
        self.n_tokens = 0
        self.seconds = 0.0  # of filling; loading a model and reading files left out

    def add(self, event: Event) -> None:
        """Count one event."""
        match event["event"]:
            case "target":
                self.gates[text_of(event, "gate")] += 1
                self.n_tokens += number_of(event, "n_tokens")
                seconds = event.get("seconds")
                self.seconds += seconds if isinstance(seconds, float) else 0.0
            case "dropped":
                self.gates[""] -= 1
                self.gates[text_of(event, "gate")] += 1
            case "skipped":
                reason = text_of(event, "reason")
                if event.get("notable"):
                    self.named.append(f"skipped {text_of(event, 'path')}: {reason}")
                else:
                    self.skipped[reason] += 1
            case "file":
                self.files["planned"] += 1
            case "refused" | "rolled back" as kind:
                self.files[kind] += 1
                reason = text_of(event, "reason")
                self.named.append(f"{kind} {text_of(event, 'path')}: {reason}")
            case "written":
                self.files["written"] += 1

    @property
    def n_targets(self) -> int:
        """Targets that were settled."""
        return sum(self.gates.values())

    @property
    def n_failed(self) -> int:
        """Targets that a gate refused, those taken back by the verify command too."""
        good = self.gates[""] + self.gates["unchanged"] + self.gates["declined"]
        return self.n_targets - good + self.files["rolled back"]

    def status(self, *, wrote: bool) -> int:
        """Return the exit status: 0 nothing left to do, 1 changes, 2 error, 3 gates."""
        if self.files["refused"]:
            return 2
        if self.n_failed:
            return 3
        return 1 if self.files["planned"] and not wrote else 0

    def event(self) -> Event:
        """Return the totals as the last event of the stream."""
        gates = {gate or "accepted": n for gate, n in self.gates.items() if n}
        return {
            "event": "summary",
            "targets": self.n_targets,
            "gates": gates,
            "files": dict(self.files),
            "skipped": dict(self.skipped),
            "tokens": self.n_tokens,
            "seconds": round(self.seconds, 3),
        }

    def lines(self) -> Iterator[str]:
        """Yield the summary for a person."""
        yield from self.named
        if self.skipped:
            reasons = ", ".join(f"{n} {why}" for why, n in self.skipped.most_common())
            yield f"skipped: {reasons}"
        yield (
            f"{_counted(self.n_targets, 'target')}: "
            f"{self.gates['']} accepted{self._refusals()}"
        )
        if self.seconds > 1:
            pace = _pace(self.n_targets / self.seconds)
            yield f"filled in {_clock(self.seconds)}, {pace}"
        done = [
            f"{_counted(self.files[kind], 'file')} {word}"
            for kind, word in (
                ("written", "written"),
                ("rolled back", "rolled back"),
                ("refused", "refused"),
            )
            if self.files[kind]
        ]
        if done:
            yield ", ".join(done)

    def _refusals(self) -> str:
        return "".join(
            f", {n} {_GATE_WORDS.get(gate, gate)}"
            for gate, n in self.gates.most_common()
            if gate and n
        )


_GATE_WORDS = {
    "unchanged": "already as the model would have them",
    "declined": "declined",
    "empty": "refused: empty",
    "match": "refused: not of the form the recipe wants",
    "parse": "refused: would parse worse",
    "outside": "refused: would change the code around",
    "confidence": "refused: confidence too low",
    "window": "refused: too large for the model's window",
    "room": "refused: cut off where its room ended (see --room)",
    "together": "refused: would parse worse together",
}


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


class ProgressLine:
    """One line on a terminal that is written over and over."""

    def __init__(self, screen: TextIO, n_characters: int, *, shown: bool) -> None:
        """Measure the way by ``n_characters``, the size of all files."""
        self._screen = screen
        self._n_characters = n_characters
        self._shown = shown
        self._started = time.monotonic()
        self._last = 0.0

    def show(self, progress: Progress) -> None:
        """Write the line anew, ten times a second at most."""
        now = time.monotonic()
        if not self._shown or now - self._last < 0.1:
            return
        self._last = now
        seconds = now - self._started
        rate = progress.n_settled / seconds if seconds else 0.0
        left = ""
        if rate:
            open_targets = (progress.n_targets - progress.n_settled) / rate
            done = progress.n_characters
            unread = (self._n_characters - done) * seconds / done if done else 0.0
            left = f", {_clock(max(open_targets, unread))} left"
        self._screen.write(
            f"\r\x1b[K{progress.n_settled} of {progress.n_targets} targets so far, "
            f"{_pace(rate)}{left} (batches of {progress.width})"
        )
        self._screen.flush()

    def clear(self) -> None:
        """Make room for other output."""
        if self._shown:
            self._screen.write("\r\x1b[K")
            self._last = 0.0


def _pace(rate: float) -> str:
    """Say how fast targets are filled, given how many a second."""
    if 0 < rate < 1:
        return f"{1 / rate:.1f} seconds a target"
    return f"{rate:.1f} targets a second"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def as_json(event: Event) -> str:
    """Return one line of the stream; plain ASCII, whatever the terminal speaks."""
    return json.dumps(event) + "\n"
