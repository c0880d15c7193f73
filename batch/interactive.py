"""Asking about each target: the keys of `git add -p`, and `[` `]` for candidates.

Keys are read one by one from a terminal; from anything else, a line each.
"""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from .fill import Job, Outcome
from .plan import Quit
from .report import Colours, diff_lines
from .targets import place_of

HELP = """\
y  accept this one                 n  leave it as it is
a  accept it and the rest of the file
d  leave it and the rest of the file
e  edit the text, then accept it   q  stop; what was accepted stays
]  next candidate                  [  the one before
"""

Redraw = Callable[[Job], list[Outcome]]
"""Draws further candidates that pass the gates."""


class Asker:
    """Shows each candidate and asks what to do; remembers answers for a whole file."""

    def __init__(
        self, answers: TextIO, screen: TextIO, colours: Colours, redraw: Redraw
    ) -> None:
        """Read keys from ``answers`` and show everything on ``screen``."""
        self._answers = answers
        self._screen = screen
        self._colours = colours
        self._redraw = redraw
        self._rest_of: tuple[str, str] | None = None  # path, key

    def __call__(self, job: Job, outcome: Outcome, path: str) -> Outcome:
        """Return the outcome as the user wants it; raise Quit to stop."""
        if self._rest_of and self._rest_of[0] == path:
            return outcome if self._rest_of[1] == "a" else _declined(outcome)
        candidates, at, drawn = [outcome], 0, False
        self._show(job, candidates[at], path, "")
        while True:
            key = self._key()
            if key in ("]", "[") and not drawn:
                more = self._redraw(job)
                candidates += [c for c in more if c.text != outcome.text]
                drawn = True
            match key:
                case "y":
                    return candidates[at]
                case "n":
                    return _declined(candidates[at])
                case "a" | "d":
                    self._rest_of = (path, key)
                    return candidates[at] if key == "a" else _declined(candidates[at])
                case "e":
                    return candidates[at]._replace(
                        text=_edited(candidates[at].text, Path(path).suffix)
                    )
                case "q":
                    raise Quit
                case "]" | "[":
                    at = (at + (1 if key == "]" else -1)) % len(candidates)
                    self._show(job, candidates[at], path, f"{at + 1}/{len(candidates)}")
                case _:
                    self._screen.write(HELP)
            self._screen.flush()

    def _show(self, job: Job, outcome: Outcome, path: str, note: str) -> None:
        text, target = job.parsed.text, job.target
        line, column = place_of(text, target.start)
        after = text[: target.start] + outcome.text + text[target.end :]
        title = f"{path}:{line}:{column} {target.name} {note}".rstrip()
        self._screen.write(
            f"\n{title}  (confidence {outcome.confidence:.2f})\n"
            + "".join(diff_lines(text, after, path, self._colours))
        )

    def _key(self) -> str:
        self._screen.write("[y,n,a,d,e,q,[,],?] ")
        self._screen.flush()
        key = _read_key(self._answers)
        if not self._answers.isatty() or not key.isprintable():
            key = key.strip()
        self._screen.write(f"{key}\n")
        return key or "?"


def _declined(outcome: Outcome) -> Outcome:
    return outcome._replace(gate="declined")


def _read_key(answers: TextIO) -> str:
    """Return one key; end of input means to stop."""
    if answers.isatty() and os.name == "posix":
        import termios
        import tty

        descriptor = answers.fileno()
        before = termios.tcgetattr(descriptor)
        try:
            # Keys typed ahead are kept; by default they would be flushed.
            tty.setcbreak(descriptor, termios.TCSADRAIN)
            key = answers.read(1)
        finally:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    else:
        key = answers.readline()
    if not key or key == "\x04":
        raise Quit
    return key


def _edited(text: str, suffix: str) -> str:
    """Let the user's editor change a text; the newline it adds at the end goes."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="niello-") as folder:
        file = Path(folder) / f"candidate{suffix}"
        file.write_bytes(text.encode())
        subprocess.run([*shlex.split(editor), str(file)], check=False)
        changed = file.read_bytes().decode("utf-8", "replace")
    return changed if text.endswith("\n") else changed.removesuffix("\n")
