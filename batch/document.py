"""One file on its way through the steps of a run."""

from niello.infill.errors import SettingsError, SourceError
from niello.infill.files import Source, check_writable, digest_of
from niello.infill.parse import parse
from niello.infill.query import check_query

from .edits import Edit, apply_edits, to_json
from .fill import Job, Outcome
from .journal import Event
from .recipe import Query, Step
from .targets import Target, find_targets, place_of

Key = tuple[str, str, int, int, int]
"""What a settled target is known by: path, file digest, step, start, end."""


class Document:
    """A file, the text the steps so far made of it, and their edits."""

    def __init__(self, source: Source, language: str) -> None:
        """Take a file as it was read."""
        self.source = source
        self.parsed = parse(source.text, language)
        self.edits: list[list[Edit]] = []

    @property
    def path(self) -> str:
        """The path as the user wrote it."""
        return str(self.source.path)

    def targets(self, step: Step) -> list[Target]:
        """Return the targets of a step in the text as it stands now."""
        if step.language and step.language != self.parsed.name:
            return []
        if isinstance(step.find, Query) and not step.language:
            try:
                check_query(self.parsed.name, step.find.source)
            except SettingsError:
                return []  # It fits another language of the run, or that was said.
        return find_targets(step, self.source.path, self.parsed)

    def why_not_writable(self) -> str | None:
        """Return why the file could not be replaced, None if it could."""
        try:
            check_writable(self.source.path)
        except SourceError as error:
            return str(error).removeprefix(f"{self.path}: ")
        return None

    def key(self, step: int, target: Target) -> Key:
        """Return what the target is known by in a journal."""
        return (self.path, self.source.digest, step, target.start, target.end)

    def target_event(self, step: int, target: Target) -> Event:
        """Describe a target; lines and columns count from 0, as in editors."""
        places = [
            dict(zip(("line", "column"), (n - 1 for n in place), strict=True))
            for place in (
                place_of(self.parsed.text, target.start),
                place_of(self.parsed.text, target.end),
            )
        ]
        return {
            "event": "target",
            "path": self.path,
            "sha256": self.source.digest,
            "step": step,
            "start": target.start,
            "end": target.end,
            "range": dict(zip(("start", "end"), places, strict=True)),
            "name": target.name,
            "old": self.parsed.text[target.start : target.end],
        }

    def outcome_event(self, step: int, job: Job, outcome: Outcome) -> Event:
        """Describe how a target ended."""
        return self.target_event(step, job.target) | {
            "new": outcome.text,
            "gate": outcome.gate,
            "confidence": round(outcome.confidence, 4),
            "tries": outcome.tries,
            "seconds": round(outcome.seconds, 4),
            "n_tokens": outcome.n_tokens,
        }

    def take_step(self, edits: list[Edit]) -> list[Edit]:
        """Make a step's edits; return those that do not parse with the others."""
        kept: list[Edit] = []
        text = apply_edits(self.parsed.text, edits)
        after = parse(text, self.parsed.name, self.parsed)
        if len(after.broken) <= len(self.parsed.broken):
            kept = edits
        else:
            after = self.parsed
            for edit in edits:
                text = apply_edits(self.parsed.text, [*kept, edit])
                attempt = parse(text, self.parsed.name, self.parsed)
                if len(attempt.broken) <= len(self.parsed.broken):
                    kept, after = [*kept, edit], attempt
        self.parsed = after
        self.edits.append(kept)
        return [edit for edit in edits if edit not in kept]

    def file_event(self) -> Event:
        """Describe the file before and after: all that a write needs."""
        data = self.source.bom + self.parsed.text.encode(self.source.encoding)
        return {
            "event": "file",
            "path": self.path,
            "sha256": self.source.digest,
            "new_sha256": digest_of(data),
            "edits": to_json(self.edits),
        }
