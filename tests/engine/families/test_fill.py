"""Canvases are filled by tiny random checkpoints of both ways, cached and uncached."""

from pathlib import Path

import pytest
import torch
from family_checks import by_name, write_like_golden
from tiny_families import CPU, SPECIAL, write_family

from niello.engine.families.decoder import Decoder
from niello.engine.families.decoding import Decoding
from niello.engine.families.open import open_family
from niello.engine.families.tokens import FamilyTokens
from niello.infill.canvas import Canvas, Draws, Filler, never
from niello.infill.context import Context

GREEDY = Draws()
BLANK = 95  # of the tests' vocabulary
PREFIX = "def f(a):\n    # twice\n    return "
WAYS = {
    "bidirectional": "a2d-qwen2",
    "bidirectional, shifted": "Dream",
    "block": "sdar",
    "block, shifted": "Fast_dLLM_Qwen",
}


def canvas(
    room: int, prefix: str = "def f(a):\n    return ", given: str = ""
) -> Canvas:
    return Canvas(Context(prefix, "\n\nx = 1\n"), given, room, lambda text: None)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("families")
    made = {}
    for number, (way, model_type) in enumerate(WAYS.items()):
        made[way] = write_family(root / str(number), model_type, seed=number)
    return made


def opened(folder: Path, **choices: object) -> Filler:
    decoding = Decoding(**{"length": "fixed", "canvas": 200, **choices})
    return open_family(folder, decoding, CPU)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("room", [0, 1, 5, 13])
def test_every_place_is_decided(way: str, room: int, folders: dict[str, Path]) -> None:
    shown = []
    decoding = Decoding(length="fixed", canvas=room, block=8)
    filler = open_family(folders[way], decoding, CPU, shown.append)
    ((fill,),) = filler.fill([canvas(room)], GREEDY, never)
    assert fill.n_tokens <= room
    if room and fill.reason == "room":
        assert not any(shown[-1].masked)


@pytest.mark.parametrize("way", WAYS)
def test_no_control_token_leaves(way: str, folders: dict[str, Path]) -> None:
    filler = opened(folders[way], canvas=24)
    fills = filler.fill([canvas(24)], Draws(8, 1.0, 3), never)[0]
    for fill in fills:
        assert not any(text in fill.text for text in SPECIAL)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("commit", ["threshold", "scheduled", "margin", "entropy"])
def test_a_batch_equals_its_single_canvases(
    way: str, commit: str, folders: dict[str, Path]
) -> None:
    filler = opened(folders[way], commit=commit, block=8)
    batch = [canvas(5 + 3 * n, "k = 1\n" * n + "y = ") for n in range(4)]
    together = filler.fill(batch, GREEDY, never)
    alone = [
        opened(folders[way], commit=commit, block=8).fill([one], GREEDY, never)[0]
        for one in batch
    ]
    assert [f[0].text for f in together] == [f[0].text for f in alone]


@pytest.mark.parametrize("way", ["block", "block, shifted"])
@pytest.mark.parametrize("block", [1, 2, 4, 8, 32])
@pytest.mark.parametrize("room", [1, 5, 13, 40])
def test_cached_equals_uncached(
    way: str, block: int, room: int, folders: dict[str, Path]
) -> None:
    cached = opened(folders[way], block=block, cache=True)
    one = canvas(room, PREFIX)
    first = cached.fill([one], GREEDY, never)[0][0]
    again = cached.fill([one], GREEDY, never)[0][0]
    without = opened(folders[way], block=block, cache=False)
    plain = without.fill([one], GREEDY, never)[0][0]
    assert first.text == again.text == plain.text
    assert again.n_cached >= len(PREFIX) // block * block > 0


@pytest.mark.parametrize("way", ["bidirectional", "bidirectional, shifted"])
def test_a_refresh_after_every_commit_equals_no_cache(
    way: str, folders: dict[str, Path]
) -> None:
    exact = opened(folders[way], canvas=16, cache=False, commit="scheduled")
    fresh = opened(folders[way], canvas=16, refresh=1, commit="scheduled")
    one = canvas(16)
    assert (
        exact.fill([one], GREEDY, never)[0][0].text
        == fresh.fill([one], GREEDY, never)[0][0].text
    )


@pytest.mark.parametrize("way", WAYS)
def test_the_stop_flag_ends_a_fill_between_passes(
    way: str, folders: dict[str, Path]
) -> None:
    n_read = 0

    def stop() -> bool:
        nonlocal n_read
        n_read += 1
        return n_read > 2

    filler = opened(folders[way], canvas=32, commit="scheduled")
    ((fill,),) = filler.fill([canvas(32)], GREEDY, stop)
    assert fill.reason == "stopped"
    assert fill.forwards == 3


@pytest.mark.parametrize("way", WAYS)
def test_the_span_rule_cuts_the_fill(way: str, folders: dict[str, Path]) -> None:
    filler = opened(folders[way], canvas=16)
    given = "ab"
    spanned = canvas(16, given=given)._replace(
        stop=lambda text: 5 if len(text) >= 5 else None
    )
    ((fill,),) = filler.fill([spanned], Draws(1, 1.0, 5), never)
    if fill.reason == "span":
        assert len(fill.text) == 3


def test_the_same_seed_draws_the_same(folders: dict[str, Path]) -> None:
    for folder in folders.values():
        texts = [
            [
                f.text
                for f in opened(folder, canvas=9).fill([canvas(9)], draws, never)[0]
            ]
            for draws in (Draws(3, 1.0, 11), Draws(3, 1.0, 11))
        ]
        assert texts[0] == texts[1]
        assert len(set(texts[0])) > 1


def test_the_mask_is_ruled_out_even_where_it_is_likeliest(tmp_path: Path) -> None:
    folder = write_family(tmp_path / "m", "a2d-qwen2")
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"][SPECIAL["<|mask|>"]] = 50 * torch.ones(32)
    save_file(tensors, folder / "model.safetensors")
    ((fill,),) = opened(folder, canvas=6).fill([canvas(6)], GREEDY, never)
    assert "<|mask|>" not in fill.text


@pytest.fixture
def eager_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every model sure of the end and, that ruled out, of blanks."""
    logits = Decoder.logits

    def changed(self: Decoder, hidden: torch.Tensor) -> torch.Tensor:
        raised = logits(self, hidden).clone()
        raised[:, SPECIAL["<|endoftext|>"]] += 60
        raised[::2, BLANK] += 30
        return raised

    monkeypatch.setattr(Decoder, "logits", changed)


@pytest.mark.usefixtures("eager_to_end")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", ["fixed", "search", "blocks"])
@pytest.mark.parametrize("given", ["", "ab", "x = "])
def test_a_canvas_that_may_not_be_empty_is_written(
    way: str, length: str, given: str, folders: dict[str, Path]
) -> None:
    filler = opened(folders[way], canvas=6, block=4, length=length)
    empty = canvas(6, PREFIX, given)
    assert filler.fill([empty], GREEDY, never)[0][0].text.strip() == ""
    ((fill,),) = filler.fill([empty._replace(may_be_empty=False)], GREEDY, never)
    assert fill.text.strip()


@pytest.mark.usefixtures("eager_to_end")
def test_a_causal_canvas_that_may_not_be_empty_is_written(tmp_path: Path) -> None:
    folder = write_family(tmp_path / "Qwen2.5-Coder", "qwen2")
    empty = canvas(6, PREFIX)
    for may_be_empty in (True, False):
        one = empty._replace(may_be_empty=may_be_empty)
        ((fill,),) = opened(folder).fill([one], GREEDY, never)
        assert bool(fill.text) is not may_be_empty


def with_suffix(folder: Path, suffix: str, **choices: object) -> tuple[str, float]:
    one = Canvas(Context("def f(a):\n    return ", suffix), "", 5, lambda text: None)
    ((fill,),) = opened(folder, canvas=5, **choices).fill([one], GREEDY, never)
    return fill.text, fill.confidence


def test_a_suffix_is_the_right_edge_of_the_last_block(tmp_path: Path) -> None:
    folder = write_like_golden("llada2", tmp_path / "LLaDA2.0-mini")
    fixed = {with_suffix(folder, suffix, block=32)[0] for suffix in ("\n\nx", "), 7")}
    assert len(fixed) == 2  # The block sees what stands at its end.


def test_an_unseen_suffix_scores_the_fill(tmp_path: Path) -> None:
    folder = write_like_golden("llada2", tmp_path / "LLaDA2.0-mini")
    results = [
        with_suffix(folder, suffix, block=4, length="blocks")
        for suffix in ("\n\nx = 1", "), 7, 8")
    ]
    assert results[0][0] == results[1][0]
    assert results[0][1] != results[1][1]
    unscored = with_suffix(folder, "), 7, 8", block=4, length="blocks", join=0)
    assert unscored[1] != results[1][1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_last_typed_token_is_written_again(
    way: str, temperature: float, folders: dict[str, Path]
) -> None:
    filler = opened(folders[way], canvas=6)
    typed = canvas(6, PREFIX, given="ab")
    ((fill,),) = filler.fill([typed], Draws(1, temperature, 3), never)
    # Each token of this vocabulary is a character, so the first place is the typed one.
    assert fill.n_tokens <= 6
    assert len(fill.text) <= 5


def test_tokens_that_begin_with_the_typed_one_are_found(tmp_path: Path) -> None:
    folder = write_family(tmp_path / "m", "a2d-qwen2")
    tokens = FamilyTokens(folder, by_name("mdlm-a2d"))
    heal = tokens.heal("x = ab")
    assert heal.tail == "b"
    assert tokens.decode(heal.token_ids) == "b"
    assert tokens.heal("").tail == ""
    assert tokens.heal("x =  ").tail == " "
    assert tokens.heal("x\n").tail == ""
    assert tokens.heal("é").tail == ""  # half a character is no token to heal
