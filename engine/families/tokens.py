"""Text to tokens and back for any family, and which tokens are control.

User text is encoded without the added tokens of the vocabulary: what looks like a
control token in a source file is text. Control tokens enter a prompt by their ids only.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from niello.engine.tokens import without_halves
from niello.infill.context import Context
from niello.infill.errors import ModelError

from .family import Family, FimOrder

Json = dict[str, Any]

# How Qwen2 cuts text into words before merging bytes; published with its tokenizer.
_QWEN2_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class Heal(NamedTuple):
    """The user's last token, which may begin a longer one; empty where none does."""

    tail: str
    token_ids: Sequence[int]  # those that begin with it


class FamilyTokens:
    """The vocabulary of one checkpoint, with the control tokens its family names."""

    def __init__(self, folder: Path, family: Family) -> None:
        """Read the tokenizer's and the config's files; no code of the publisher's."""
        files = {name: _read(folder / f"{name}.json") for name in _FILES}
        facts = {**files["config"], **files["generation_config"]}
        self._tokenizer, self._added = _tokenizer(folder, files)
        self.mask_id = _mask_id(family, facts, files["tokenizer_config"], self._added)
        self.end_ids = frozenset(
            token_id
            for name in ("eos_token_id", "pad_token_id")
            for source in (files["config"], files["generation_config"])
            for token_id in _ids(source.get(name))
        )
        self.end_id = _first(facts.get("eos_token_id"))
        self.begin_id = _first(facts.get("bos_token_id"))
        self.expand_id = _first(facts.get("expand_token_id"))
        self.delete_id = _first(facts.get("delete_token_id"))
        self.split_id = _first(facts.get("split_token_id"))
        self.special_ids = frozenset(
            {*self._added.values(), *self.end_ids, self.mask_id} - {None}
        )
        self.window = _window(facts)

    def encode(self, text: str) -> list[int]:
        """Return the ids of plain text; never a control token's."""
        whole = without_halves(text)
        ids: list[int] = self._tokenizer.encode(whole, add_special_tokens=False).ids
        return ids

    def decode(self, token_ids: Iterable[int]) -> str:
        """Return the text of ordinary tokens, without a character cut at the end."""
        plain = [i for i in token_ids if i not in self.special_ids]
        text: str = self._tokenizer.decode(plain, skip_special_tokens=True)
        return text.rstrip("\ufffd")

    def heal(self, given: str) -> "Heal":
        """Return what is to be written again where the user may be within a word."""
        tail = self.decode(self.encode(given)[-1:])
        if tail.endswith((" ", "\t")):
            # Words begin with the last of the blanks before them.
            tail = tail[-1]
        if not tail or not given.endswith(tail) or tail.endswith("\n"):
            return Heal("", ())
        texts, ids = self._spelled
        first = bisect_left(texts, tail)
        last = bisect_left(texts, tail + chr(0x10FFFF))
        return Heal(tail, ids[first:last])

    @cached_property
    def _spelled(self) -> tuple[Sequence[str], Sequence[int]]:
        """Texts of ordinary tokens in their order, and the tokens."""
        count = self._tokenizer.get_vocab_size(with_added_tokens=False)
        pairs = sorted(
            (text, token_id)
            for token_id in range(count)
            if token_id not in self.special_ids
            and (text := self._tokenizer.decode([token_id]))
            and "\ufffd" not in text
        )
        return [text for text, _ in pairs], [token_id for _, token_id in pairs]

    def fim_prompt(self, order: FimOrder, context: Context) -> list[int] | None:
        """Return the prompt in a family's order, None if the vocabulary lacks it."""
        texts = {
            "prefix": context.extra + context.prefix,
            "suffix": context.suffix,
        }
        ids: list[int] = []
        for part in order.parts:
            if part in texts:
                ids.extend(self.encode(texts[part]))
            elif part in self._added:
                ids.append(self._added[part])
            else:
                return None
        return ids


_FILES = (
    "config",
    "generation_config",
    "tokenizer_config",
    "added_tokens",
    "tokenizer",
)


def _read(path: Path) -> Json:
    if not path.exists():
        return {}
    try:
        content: Json = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read ({error})") from error
    return content


def _tokenizer(
    folder: Path, files: Mapping[str, Json]
) -> tuple[Tokenizer, dict[str, int]]:
    """Return a tokenizer that knows no added tokens, and those by their texts."""
    added = {str(text): int(i) for text, i in files["added_tokens"].items()}
    decoder = files["tokenizer_config"].get("added_tokens_decoder", {})
    added |= {str(token["content"]): int(i) for i, token in decoder.items()}
    described = files["tokenizer"]
    try:
        if described:
            for token in described.get("added_tokens", []):
                added[token["content"]] = token["id"]
            plain = {**described, "added_tokens": [], "post_processor": None}
            return Tokenizer.from_str(json.dumps(plain)), added
        return _byte_level(folder / "vocab.json", folder / "merges.txt"), added
    except Exception as error:  # the library raises bare Exception
        raise ModelError(f"{folder}: no readable tokenizer.json ({error})") from error


def _byte_level(vocabulary: Path, merges: Path) -> Tokenizer:
    """Build the tokenizer of checkpoints that publish Qwen2's files (Dream)."""
    tokenizer = Tokenizer(models.BPE.from_file(str(vocabulary), str(merges)))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_QWEN2_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _mask_id(
    family: Family, facts: Json, described: Json, added: Mapping[str, int]
) -> int | None:
    """Return the mask's id: as the config says, else the tokenizer, else the table."""
    stated = _first(facts.get("mask_token_id"))
    if stated is not None:
        return stated
    token = described.get("mask_token") or family.mask_token
    text = token.get("content") if isinstance(token, dict) else token
    return added.get(str(text), family.mask_id)


def _window(facts: Json) -> int:
    """Return how many tokens the model sees; no attention here slides."""
    names = (
        "max_position_embeddings",
        "max_sequence_length",
        "model_length",
        "seq_len",  # DiffuSeq
    )
    stated = [int(facts[name]) for name in names if facts.get(name)]
    if facts.get("sliding_window") and facts.get("use_sliding_window", True):
        stated.append(int(facts["sliding_window"]))
    return min(stated, default=1 << 20)


def _ids(value: object) -> Sequence[int]:
    if isinstance(value, int):
        return [value] if value >= 0 else []
    return [i for i in value if isinstance(i, int)] if isinstance(value, list) else []


def _first(value: object) -> int | None:
    return next(iter(_ids(value)), None)
