"""How wide batches become."""

from niello.batch.width import Width


def widths(width: Width, seconds_of: dict[int, float], n_batches: int) -> list[int]:
    """Return the width of each batch; ``seconds_of`` says what one of a width takes."""
    found = []
    for _ in range(n_batches):
        found.append(width.now)
        width.record(width.now, 10 * width.now, seconds_of[width.now])
    return found


def test_a_batch_is_widened_while_that_pays() -> None:
    assert widths(Width(), {16: 1.0, 32: 1.0}, 5) == [16, 16, 32, 32, 32]


def test_a_width_that_brings_nothing_is_taken_back() -> None:
    assert widths(Width(), {16: 1.0, 32: 2.0}, 6) == [16, 16, 32, 32, 16, 16]


def test_the_users_width_stays() -> None:
    assert widths(Width(3), {3: 1.0}, 4) == [3, 3, 3, 3]
