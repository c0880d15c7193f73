"""Text to tokens and back, for prompts in fill-in-the-middle order.

User text is encoded with the special tokens switched off: what looks like a control
token in a source file is text. Control tokens enter a prompt only by their ids.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer

from niello.infill.context import Context
from niello.infill.errors import ModelError

from .load import load_config

_HALVES = re.compile("[\ud800-\udfff]")
_ENDS = ("<|endoftext|>", "<|im_end|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>")


class Tokens:
    """The vocabulary of one model."""

    def __init__(self, folder: Path) -> None:
        """Read tokenizer.json and the special tokens of config.json."""
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises bare Exception
            raise ModelError(f"{folder}: no readable tokenizer.json") from error
        special: dict[str, int] = load_config(folder)["special_tokens"]
        self._prefix = special["<|fim_prefix|>"]
        self._suffix = special["<|fim_suffix|>"]
        self._middle = special["<|fim_middle|>"]
        self.special_ids = frozenset(special.values())
        self.end_ids = frozenset(special[name] for name in _ENDS)
        self._bytes = self._spell()
        self._ids = {text: i for i, text in enumerate(self._bytes) if text}
        self._spelled = sorted(self._ids)

    def encode(self, text: str) -> list[int]:
        """Return the ids of plain text; never a special one."""
        whole = without_halves(text)
        ids: list[int] = self._tokenizer.encode(whole, add_special_tokens=False).ids
        return ids

    def decode(self, token_ids: Iterable[int]) -> bytes:
        """Return the bytes of ordinary tokens; a character may be cut at the end."""
        table = self._bytes
        return b"".join(table[token_id] for token_id in token_ids)

    def prompt(self, context: Context) -> list[int]:
        """Return the ids up to the control token behind which ``lead`` stands."""
        return [
            *self.opening(context),
            self._suffix,
            *self.encode(context.suffix),
            self._middle,
        ]

    def opening(self, context: Context) -> list[int]:
        """Return the prompt up to the anchor; the file goes on with ``lead``."""
        text = context.extra + context.prefix[: context.anchor]
        return [self._prefix, *self.encode(text)]

    def continuing(self, text: bytes) -> list[int]:
        """Return the tokens that begin with ``text``, or with which it begins.

        These are the ones allowed where a token of the user's text may be unfinished.
        """
        first = bisect_left(self._spelled, text)
        last = bisect_left(self._spelled, text + b"\xff" * 16)
        longer = (self._ids[each] for each in self._spelled[first:last])
        shorter = (self._ids.get(text[:n]) for n in range(1, len(text)))
        return [*longer, *(i for i in shorter if i is not None)]

    def _spell(self) -> list[bytes]:
        """Return the bytes of each token, by id; special and unused ids have none."""
        alphabet = _byte_alphabet()
        table = [b""] * (max(self.special_ids) + 1024)
        for text, token_id in self._tokenizer.get_vocab().items():
            if token_id not in self.special_ids:
                table[token_id] = text.translate(alphabet).encode("latin-1")
        return table


def without_halves(text: str) -> str:
    """Return a text with U+FFFD for each half of a surrogate pair.

    Editors send halves while such a character is typed, and no vocabulary has them.
    """
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


def _byte_alphabet() -> dict[int, int]:
    """Return the byte each character of a byte-level vocabulary stands for, by number.

    Printable bytes stand for themselves, the others for characters from 256 on, as in
    GPT-2's byte-level BPE (github.com/openai/gpt-2).
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: byte for byte in printable} | {
        256 + n: byte for n, byte in enumerate(others)
    }
