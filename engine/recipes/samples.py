"""Cuts fill-in-the-middle samples from the corpus and encodes them as the engine does.

Cuts follow lines and indentation, which holds in every language of the corpus: the rest
of a line, whole lines, a block's body, a block with its opener. Text is encoded with
special tokens off, prefix, suffix and given text each for itself.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer

from .corpus import Source

PREFIX, MIDDLE, SUFFIX, END = 151659, 151660, 151661, 151643
ENDS = {151643, 151645, 151662, 151663, 151664}
PYTHON_SHARE = 0.3
_MOST_BLOCK_LINES = 24
_LINES = (1, 1, 1, 2, 2, 3, 4, 5, 6, 8)  # of a middle of whole lines
_SPAN_SHARE = 0.14  # of the samples: a span with any two places for its edges
_DEFINES = re.compile(r"\s*(?:async )?def ")
_DOCSTRINGS = ('"""', "'''")
_NOTES = ("//", "/*", "*", "# ", "#\n")
_NOTES_REFUSED = 0.8  # of the middles that begin with a comment, licences mostly
_WHOLE_LINES_SHARE = 0.25  # of the samples: the middle ends with its line
_LONGEST_BODY = 48  # lines of a block that lines are cut out of
_MOST_CUT_LINES = 12
_ONE_LINE_SHARE = 0.3  # of those cuts: one line
_AT_CURSOR_SHARE = 0.3  # of those cuts: the suffix begins with the line's end
_BLOCK_ALONE_SHARE = 0.4  # of those cuts: nothing of the file but the block


class Sample(NamedTuple):
    """A text cut at a cursor, or around a span that is replaced."""

    language: str
    prefix: str  # up to the lead, or the cursor's line, or the span
    given: str  # what stands on that line in front of the cursor
    middle: str
    suffix: str
    lead: str = ""  # lines between prefix and given text; they stand behind the suffix


class Problem(NamedTuple):
    """A sample whose middle is judged by a test, a program to run after the text."""

    sample: Sample
    test: str


class Corpus:
    """The files of one split, drawn by language."""

    def __init__(self, path: Path, held_out: bool) -> None:
        """Read the split's files into memory."""
        self._by_language: dict[str, list[Source]] = {}
        with path.open(encoding="utf-8") as rows:
            for row in rows:
                source = Source(**json.loads(row))
                if source.held_out == held_out:
                    self._by_language.setdefault(source.language, []).append(source)

    @property
    def languages(self) -> list[str]:
        """The languages of the split."""
        return sorted(self._by_language)

    def draw(
        self, rng: random.Random, language: str | None = None, cut: "Cut | None" = None
    ) -> Sample:
        """Cut one sample, of the given language or of one drawn by share."""
        if language is None:
            others = [name for name in self.languages if name != "python"]
            python = rng.random() < PYTHON_SHARE
            language = "python" if python else rng.choice(others)
        while True:
            source = rng.choice(self._by_language[language])
            sample = (cut or cut_anywhere)(source.text, rng, language)
            if sample is not None:
                return sample

    def draw_files(
        self, rng: random.Random, language: str, n: int
    ) -> list[tuple[str, str]]:
        """Return path and text of ``n`` files of one package, or of fewer."""
        package = rng.choice(self._by_language[language]).package
        files = [f for f in self._by_language[language] if f.package == package]
        return [(f.path, f.text) for f in rng.sample(files, min(n, len(files)))]

    def count_tokens(
        self, tokenizer: Tokenizer, n_files: int, rng: random.Random
    ) -> Counter[int]:
        """Count the tokens of some files of every language."""
        counts: Counter[int] = Counter()
        for files in self._by_language.values():
            for source in rng.sample(files, min(n_files, len(files))):
                counts.update(encode(tokenizer, source.text))
        return counts


Cut = Callable[[str, random.Random, str], Sample | None]
"""Cuts a text of a language, or returns None where that fails."""


def cut_anywhere(text: str, rng: random.Random, language: str) -> Sample | None:
    """Cut a text at a place drawn at random, or return None where that fails."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 12:
        return None
    first = rng.randrange(4, len(lines) - 2)
    if not lines[first].strip():
        return None
    kind, column, last = rng.random(), 0, first + 1
    left = ""  # what stays of the last line
    if kind < _SPAN_SHARE:
        return _cut_span(lines, first, rng, language)
    if kind < 0.28:  # the rest of a line
        column = rng.randrange(_depth(lines[first]), len(lines[first].rstrip()))
    elif kind < 0.36:  # the rest between brackets
        found = _brackets(lines[first], rng)
        if found is None:
            return None
        column, left = found[0], lines[first][found[1] :]
    elif kind < 0.64:  # a few lines of one block
        last = min(first + rng.choice(_LINES), _block_end(lines, first, inside=False))
    else:  # a body, or an opener with its body
        last = _block_end(lines, first, inside=True)
        if last <= first + 1 or last - first > _MOST_BLOCK_LINES:
            return None
        first += rng.random() < 0.5
    while last > first + 1 and not lines[last - 1].strip():
        last -= 1
    if column == 0 and rng.random() < 0.7:  # the cursor stands after the indentation
        column = _depth(lines[first])
    window = max(0, first - rng.choice((6, 12, 24, 48)))
    horizon = last + rng.choice((3, 6, 12, 24))
    written = lines[first][column:] + "".join(lines[first + 1 : last])
    written = written.removesuffix("\n")
    middle = written.removesuffix(left.removesuffix("\n"))
    is_note = middle.lstrip().startswith(_NOTES)
    if not middle.strip() or (is_note and rng.random() < _NOTES_REFUSED):
        return None
    suffix = (left or "\n") + "".join(lines[last:horizon])
    if not left and rng.random() < _WHOLE_LINES_SHARE:
        middle, suffix = middle + "\n", suffix.removeprefix("\n")
    prefix, given = "".join(lines[window:first]), lines[first][:column]
    return Sample(language, prefix, given, middle, suffix)


def cut_lines(text: str, rng: random.Random, language: str) -> Sample | None:
    """Cut lines out of a block, whatever they begin or end, or return None.

    What such a middle ends with is told by its suffix alone.
    """
    lines = text.splitlines(keepends=True)
    if len(lines) < 12:
        return None
    opener = rng.randrange(len(lines) - 4)
    return _cut_body(lines, opener, opener + 1, rng, language)


def cut_function(text: str, rng: random.Random, language: str) -> Sample | None:
    """Cut lines out of a Python function, behind its docstring, or return None."""
    lines = text.splitlines(keepends=True)
    found = [n for n, line in enumerate(lines) if _DEFINES.match(line)]
    if not found:
        return None
    opener = first = rng.choice(found)
    while first < len(lines) - 1 and not lines[first].rstrip().endswith(":"):
        first += 1
    first += 1
    quote = lines[first].strip()[:3] if first < len(lines) else ""
    if quote in _DOCSTRINGS:
        n_quotes = 0
        while first < len(lines) and n_quotes < 2:
            n_quotes += lines[first].count(quote)
            first += 1
    return _cut_body(lines, opener, first, rng, language)


def _cut_body(
    lines: list[str], opener: int, top: int, rng: random.Random, language: str
) -> Sample | None:
    """Cut some of the lines from ``top`` to the end of the block of ``opener``."""
    end = _block_end(lines, opener, inside=True)
    while end > top and not lines[end - 1].strip():
        end -= 1
    if not lines[opener].strip() or not 2 <= end - top <= _LONGEST_BODY:
        return None
    first = rng.randrange(top, end)
    n_most = 1 if rng.random() < _ONE_LINE_SHARE else _MOST_CUT_LINES
    last = first + rng.randint(1, min(n_most, end - first))
    middle = "".join(lines[first:last])
    if not middle.strip() or middle.lstrip().startswith(_NOTES):
        return None
    window, horizon = opener, end
    if rng.random() >= _BLOCK_ALONE_SHARE:
        window = max(0, first - rng.choice((6, 12, 24, 48)))
        horizon = last + rng.choice((3, 6, 12, 24))
    prefix, suffix = "".join(lines[window:first]), "".join(lines[last:horizon])
    if middle.endswith("\n") and rng.random() < _AT_CURSOR_SHARE:
        middle, suffix = middle.removesuffix("\n"), "\n" + suffix
    return Sample(language, prefix, "", middle, suffix)


def with_lead(sample: Sample, n_lines: int) -> Sample:
    """Move the prefix's last lines behind the suffix, as the product's anchor does."""
    lines = sample.prefix.splitlines(keepends=True)
    head = "".join(lines[: -n_lines - 1])
    return sample._replace(prefix=head, lead=sample.prefix[len(head) :])


def is_at_cursor(sample: Sample) -> bool:
    """Return whether text is written at a cursor, not in place of a span."""
    at_line = sample.prefix.endswith("\n") or not sample.prefix
    return at_line and not sample.middle.endswith("\n")


def prompt_ids(tokenizer: Tokenizer, sample: Sample) -> list[int]:
    """Encode everything in front of the canvas, in the order the engine uses."""
    prefix, suffix = encode(tokenizer, sample.prefix), encode(tokenizer, sample.suffix)
    fixed = encode(tokenizer, sample.lead + sample.given)
    if sample.given or not sample.lead.endswith("\n"):
        # The engine writes the last token again, since the cursor may have cut it.
        del fixed[-1:]
    return [PREFIX, *prefix, SUFFIX, *suffix, MIDDLE, *fixed]


def encode(tokenizer: Tokenizer, text: str) -> list[int]:
    """Encode text in which nothing is a control token."""
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids


def read_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer.json, with control tokens in text left as text."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True
    return tokenizer


def read_problems(path: Path, n: int, rng: random.Random) -> list[Problem]:
    """Draw ``n`` problems of a HumanEval-Infilling file; for measuring only."""
    problems = []
    for line in rng.sample(path.read_text(encoding="utf-8").splitlines(), n):
        row = json.loads(line)
        parts = (row["prompt"], "", row["canonical_solution"], row["suffix"])
        test = f"{row['test']}\ncheck({row['entry_point']})\n"
        problems.append(Problem(Sample(path.stem, *parts), test))
    return problems


def _block_end(lines: list[str], first: int, inside: bool) -> int:
    """Return the line after the block: deeper lines only, or the same depth too."""
    depth, last = _depth(lines[first]), first + 1
    while last < len(lines):
        line = lines[last]
        if line.strip() and (_depth(line) < depth + inside):
            closing = line.strip()[0] in "})]" and _depth(line) == depth
            return last + (inside and closing)
        last += 1
    return last


def _cut_span(
    lines: list[str], first: int, rng: random.Random, language: str
) -> Sample:
    """Cut a span whose edges may lie inside lines, as one that replaces a node."""
    window, horizon = max(0, first - rng.choice((6, 12, 24, 48))), first + 16
    before, text = "".join(lines[window:first]), "".join(lines[first:horizon])
    start = rng.randrange(len(lines[first]))
    stop = min(len(text), start + rng.randint(3, 120))
    middle, suffix = text[start:stop], text[stop:]
    return Sample(language, before + text[:start], "", middle, suffix)


def _brackets(line: str, rng: random.Random) -> tuple[int, int] | None:
    """Return where a rest between brackets of a line starts and ends."""
    pairs, opened = [], []
    for place, character in enumerate(line):
        if character in "([{":
            opened.append(place)
        elif character in ")]}" and opened:
            pairs.append((opened.pop() + 1, place))
    pairs = [(start, stop) for start, stop in pairs if line[start:stop].strip()]
    if not pairs:
        return None
    start, stop = rng.choice(pairs)
    return (start if rng.random() < 0.5 else rng.randrange(start, stop)), stop


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
