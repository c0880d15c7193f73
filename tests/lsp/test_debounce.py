"""The wait before an automatic request becomes work."""

from niello.lsp.debounce import Debounce

BASE = 0.02


def typed_every(gap: float) -> Debounce:
    rhythm = Debounce()
    for number in range(20):
        rhythm.typed(100 + number * gap)
    return rhythm


def test_a_burst_waits_longer_than_thoughtful_typing() -> None:
    burst = typed_every(0.02).wait(BASE, "x = a")
    assert burst > 3 * typed_every(0.3).wait(BASE, "x = a")


def test_thoughtful_typing_waits_the_base_only() -> None:
    assert typed_every(0.3).wait(BASE, "x = a") == BASE


def test_an_opened_bracket_or_a_new_line_waits_less() -> None:
    calm = typed_every(0.3)
    assert calm.wait(BASE, "f(") < BASE
    assert calm.wait(BASE, "if a:\n    ") < BASE


def test_the_first_keystroke_is_no_burst() -> None:
    assert Debounce().wait(BASE, "a") == BASE
