"""Filling with a random model: drafts change the time and never the text."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from niello.engine.draft import NOTHING, Draft
from niello.engine.engine import Engine
from niello.engine.filling import Filling, Limits, encode, fixed_tokens
from niello.engine.kernels import INT8
from niello.engine.pace import Plan
from niello.engine.sample import Sampler
from niello.infill.canvas import Canvas, Draws
from niello.infill.context import Context

PROMPTS = [
    Context("def f(a):\n    return ", "\n\nprint(f(1))\n"),
    Context("de de de de de de de de ", ""),
    Context("", ""),
    Context("return return def", "return return"),
]


@pytest.fixture
def engine(tiny_folder: Path) -> Engine:
    return Engine.load(tiny_folder, kernel=INT8)


def canvas(context: Context, given: str = "", room: int = 40) -> Canvas:
    return Canvas(context, given, room, lambda _: None)


@pytest.mark.parametrize("context", PROMPTS)
@pytest.mark.parametrize("given", ["", "ret", "    x"])
@pytest.mark.parametrize("temperature", [0.0, 0.05])
def test_drafts_do_not_change_the_text(
    engine: Engine, context: Context, given: str, temperature: float
) -> None:
    draws = Draws(temperature=temperature)
    engine.limits = Limits(n_draft=0)
    ((plain,),) = engine.fill([canvas(context, given)], draws)
    engine.clear_caches()
    engine.limits = Limits(n_draft=7)
    ((drafted,),) = engine.fill([canvas(context, given)], draws)
    assert drafted.text == plain.text
    assert drafted.n_tokens == plain.n_tokens
    assert drafted.forwards <= plain.forwards


@pytest.mark.parametrize("draws", [Draws(), Draws(temperature=0.9, seed=3)])
def test_a_batch_equals_its_canvases_alone(engine: Engine, draws: Draws) -> None:
    canvases = [canvas(context) for context in PROMPTS]
    together = engine.fill(canvases, draws)
    engine.clear_caches()
    alone = [engine.fill([each], draws)[0] for each in canvases]
    assert [[f.text for f in fills] for fills in together] == [
        [f.text for f in fills] for fills in alone
    ]


def test_half_of_a_surrogate_pair_is_read_as_an_unknown_character(
    engine: Engine,
) -> None:
    text = "a\ud83d b\udc00"
    assert engine.tokens.encode(text) == engine.tokens.encode("a\ufffd b\ufffd")
    ((fill,),) = engine.fill([canvas(Context(text, text), text)], Draws())
    assert fill.reason in ("end", "room")


@pytest.mark.parametrize("temperature", [1e-300, 1e-45, -1.0, float("nan")])
def test_next_to_temperature_0_the_likeliest_text_is_drawn(
    engine: Engine, temperature: float
) -> None:
    one = canvas(PROMPTS[0])
    ((fill,),) = engine.fill([one], Draws(1, temperature, seed=2**70))
    ((greedy,),) = engine.fill([one], Draws())
    assert fill.text == greedy.text


def test_text_behind_the_anchor_follows_the_suffix(engine: Engine) -> None:
    tokens = engine.tokens
    head, whole = Context("ab", "yz"), Context("abc\ncd", "yz", anchor=2)
    assert tokens.prompt(whole) == tokens.prompt(head)
    assert whole.lead == "c\ncd"
    assert whole._replace(anchor=None).lead == ""


@pytest.mark.parametrize(
    ("lead", "given", "n_healed"),
    [("", "", 0), ("a\n", "", 0), ("a\nb ", "", 1), ("a\n", "b", 1), ("", "b", 1)],
)
def test_text_that_ends_within_a_line_is_healed(
    engine: Engine, lead: str, given: str, n_healed: int
) -> None:
    context = Context(f"x{lead}", "", anchor=1)
    fixed, n = fixed_tokens(canvas(context, given), engine.tokens)
    assert (fixed, n) == (engine.tokens.encode(lead + given), n_healed)


@pytest.mark.parametrize(
    ("given", "healed"),
    [
        ("x = ab", "ab"),
        ("x_ab", "ab"),
        ("xAb", "Ab"),
        ("ab(", "("),
        ("qzqzqzqz", "qzqz"),  # no more than four tokens
    ],
)
def test_all_tokens_of_a_word_that_has_begun_are_healed(
    engine: Engine, given: str, healed: str
) -> None:
    fixed = encode(canvas(PROMPTS[0], given), engine.tokens)
    assert fixed.heal.decode().strip() == healed


def test_a_canvas_that_must_not_stay_empty_is_filled_without_confidence(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    logits = engine.model.logits
    ends = list(engine.tokens.special_ids)

    def ending(hidden: torch.Tensor, line_ends: list[int]) -> torch.Tensor:
        return logits(hidden).index_add(
            1, torch.tensor(ends), torch.full((len(hidden), len(ends)), 100.0)
        )

    monkeypatch.setattr(engine.model, "logits", ending)
    ((empty,),) = engine.fill([canvas(PROMPTS[0])], Draws())
    filled_canvas = canvas(PROMPTS[0])._replace(may_be_empty=False)
    ((filled,),) = engine.fill([filled_canvas], Draws())
    assert (empty.text, empty.reason, filled.reason) == ("", "end", "end")
    assert filled.text.strip()
    assert filled.confidence < -20


def test_the_room_is_never_exceeded(engine: Engine) -> None:
    for room in (1, 2, 5):
        ((fill,),) = engine.fill([canvas(PROMPTS[1], room=room)], Draws())
        assert fill.n_tokens <= room


def test_the_stop_rule_cuts_the_text(engine: Engine) -> None:
    stopping = Canvas(PROMPTS[0], "ab", 400, lambda text: 4 if len(text) > 4 else None)
    ((fill,),) = engine.fill([stopping], Draws())
    assert (fill.reason, len(fill.text)) == ("span", 2)


def test_a_raised_flag_ends_the_fill_before_the_next_pass(engine: Engine) -> None:
    def calls() -> Iterator[bool]:
        yield from [False] * 4
        while True:
            yield True

    flag = calls()
    ((fill,),) = engine.fill([canvas(PROMPTS[0])], Draws(), lambda: next(flag))
    assert fill.reason == "stopped"
    assert fill.forwards <= 3


def test_a_stop_while_a_context_is_computed_ahead_keeps_whole_slices(
    engine: Engine,
) -> None:
    context = Context("def f(a):\n" * 40, "\nreturn f\n")
    # The flag is read before each layer but the last, of which little is computed.
    flags = iter([False] * (engine.model.facts.n_layers - 1))
    engine.warm(context, lambda: next(flags, True))
    ((fill,),) = engine.fill([canvas(context, room=1)], Draws())
    assert fill.n_cached == 128


def test_typed_text_is_all_that_is_computed_again(engine: Engine) -> None:
    context = Context("def f(a):\n" * 40, "\nreturn f\n")
    engine.fill([canvas(context, "return x")], Draws())
    ((fill,),) = engine.fill([canvas(context, "return x + y", room=1)], Draws())
    # The tokens typed since, the one that may be unfinished, and the free one.
    assert fill.n_fed <= len(engine.tokens.encode("return x + y"))


def test_canvases_of_one_file_share_its_beginning(engine: Engine) -> None:
    text = "def f(a):\n    return a\n" * 12
    near, far = (canvas(Context(text[:n], "\n"), room=1) for n in (200, len(text)))
    (fill,), (_,) = engine.fill([near, far], Draws())
    assert fill.n_cached > 80


def test_what_was_typed_is_healed_and_never_written_twice(engine: Engine) -> None:
    for given in ("re", "retur", "    ", "é"):
        ((fill,),) = engine.fill([canvas(PROMPTS[0], given)], Draws())
        assert not fill.text.startswith(given + given)


def test_a_seed_gives_the_same_candidates(engine: Engine) -> None:
    draws = Draws(n=3, temperature=0.9, seed=7)
    first = engine.fill([canvas(PROMPTS[0])], draws)
    engine.clear_caches()
    assert [f.text for f in engine.fill([canvas(PROMPTS[0])], draws)[0]] == [
        f.text for f in first[0]
    ]


def test_the_first_of_several_candidates_is_greedy(engine: Engine) -> None:
    ((greedy,),) = engine.fill([canvas(PROMPTS[0])], Draws())
    (several,) = engine.fill([canvas(PROMPTS[0])], Draws(n=3))
    assert several[0].text == greedy.text
    assert len(several) == 3


def test_drafts_do_not_change_the_distribution() -> None:
    logits = torch.tensor([[1.0, 0.5, 0.0, -1.0], [0.3, 0.1, 0.9, 0.0]])
    expected = logits[0].softmax(0)
    for draft in ([0], [2]):
        sampler = Sampler(1.0, seed=3)
        rows = logits[: 1 + len(draft)]
        counts = Counter(sampler.check(rows, draft).token_ids[0] for _ in range(20_000))
        observed = torch.tensor([counts[i] / 20_000 for i in range(4)])
        chi = (20_000 * (observed - expected) ** 2 / expected).sum()
        assert chi < 16.27  # p = 0.001 at three degrees of freedom


def test_log_probabilities_add_up_to_the_text(engine: Engine) -> None:
    text = "def f(a):\n    return a\n"
    scored = engine.score(text, 0)
    assert scored[-1].end == len(text)
    assert all(token.log_probability <= 0 for token in scored)
    assert [a.end for a in scored[:-1]] == [b.start for b in scored[1:]]


@pytest.mark.parametrize("start", [1, 9, 14, 700])
def test_a_score_from_a_place_on_is_that_of_the_whole(
    engine: Engine, start: int
) -> None:
    text = "def f(a):\n    return é + a\n" * 40
    whole = engine.score(text, 0)
    changed = engine.score(text[:700] + "x = 1\n" + text[700:], 600)
    engine.clear_caches()
    part = engine.score(text, start)
    assert part == [each for each in whole if each.start >= start]
    assert part == engine.score(text, start)
    assert changed[0].start >= 600


def test_a_stop_ends_scoring(engine: Engine) -> None:
    assert engine.score("def f(a):\n    return a\n", 0, lambda: True) == []


def test_what_agreed_past_the_end_does_not_count(engine: Engine) -> None:
    context = Context("def f():\n", "")
    full = Canvas(context, "", 40, lambda text: 2 if len(text) >= 2 else None)
    cache, fixed = engine.model.new_cache(), encode(full, engine.tokens)
    filling = Filling(full, engine.tokens, fixed, cache, Sampler())
    token_ids = [engine.tokens.encode(letter)[0] for letter in "abcd"]
    filling.draft, filling.plan = Draft(token_ids[:3], [9] * 3), Plan(3, {})
    logits = torch.zeros(4, engine.model.facts.vocabulary)
    logits[torch.arange(4), torch.tensor(token_ids)] = torch.tensor([9.0, 9, 5, 5])
    filling.commit(logits, Limits(n_draft=8))
    fill = filling.result()
    assert (fill.text, fill.reason, fill.n_tokens) == ("ab", "span", 2)
    assert fill.confidence == pytest.approx(
        float(logits[0].log_softmax(-1).max()), rel=1e-4
    )


def test_ends_are_forbidden_as_long_as_nothing_is_written(engine: Engine) -> None:
    tokens, n_tokens = engine.tokens, engine.model.facts.vocabulary
    blank, letter = (tokens.encode(text)[0] for text in "\nx")
    end = min(tokens.special_ids)
    logits = torch.zeros(2, n_tokens)
    logits[0, blank] = logits[1, end] = 9.0
    logits[1, letter] = 8.0
    cut = Canvas(Context("def f():\n", ""), "", 2, lambda _: None, False)
    fills = []
    for draft, passes in ((Draft([blank], [9]), [logits]), (NOTHING, logits.split(1))):
        fixed, cache = encode(cut, tokens), engine.model.new_cache()
        filling = Filling(cut, tokens, fixed, cache, Sampler())
        for rows in passes:
            filling.draft, filling.plan = draft, Plan(len(draft.token_ids), {})
            filling.commit(rows, Limits(n_draft=8))
        fills.append(filling.result())
    drafted, plain = fills
    assert drafted.text == plain.text == "\nx"
    assert drafted.confidence == pytest.approx(plain.confidence)
    assert drafted.confidence < float(logits[1].log_softmax(-1)[letter]) / 2
