"""What a pass feeds of a draft, by what rows cost and how guesses turned out."""

import pytest

from niello.engine.draft import NOTHING, Draft, LookUp, guessed
from niello.engine.pace import Cost, Pace, Plan

CHEAP = Cost(1.0, 0.01)


def draft(*probabilities: float) -> Draft:
    return guessed(list(range(len(probabilities))), probabilities)


def test_everything_is_fed_where_rows_are_free() -> None:
    plan = Pace(Cost(1.0, 0.0), 5).plan(draft(0.5, 0.1, 0.5))
    assert plan == Plan(3, {0: 5, 1: 5, 2: 5, 3: 5})


def test_nothing_is_fed_where_rows_are_all_that_costs() -> None:
    assert Pace(Cost(0.0, 1.0), 5).plan(draft(0.9, 0.9)) == Plan(0, {})


def test_a_draft_ends_before_a_token_that_is_not_worth_its_row() -> None:
    plan = Pace(Cost(1.0, 0.05), 3).plan(draft(0.99, 0.05, 0.99, 0.99))
    assert plan.n_draft == 1


def test_blocks_stand_where_the_draft_is_likely_to_end() -> None:
    plan = Pace(CHEAP, 3).plan(draft(0.99, 0.55, 0.99))
    assert plan.n_draft == 3
    assert {1, 3} <= plan.blocks.keys()
    assert 2 not in plan.blocks


def test_without_a_draft_a_block_stands_after_the_last_token() -> None:
    plan = Pace(CHEAP, 3).plan(NOTHING)
    assert plan.n_draft == 0
    assert list(plan.blocks) == [0]


def test_canvases_in_one_pass_share_its_cost_and_feed_less() -> None:
    pace = Pace(Cost(1.0, 0.02), 5)
    alone, shared = (pace.plan(draft(0.6, 0.4), n) for n in (1, 16))
    assert sum(shared.blocks.values()) < sum(alone.blocks.values())


@pytest.mark.parametrize("n_agreed", [0, 3])
def test_how_guesses_turn_out_is_learned(n_agreed: int) -> None:
    pace = Pace(CHEAP, 3)
    unsure = draft(0.45, 0.45, 0.45)
    before = pace.likely(unsure)
    for _ in range(200):
        pace.learn(unsure, 3, n_agreed)
    assert (pace.likely(unsure) > before) == (n_agreed > 0)


def test_what_was_looked_up_after_guesses_tells_nothing_of_blocks() -> None:
    longer, alone = Pace(CHEAP, 5), Pace(CHEAP, 5)
    looked_up = LookUp().draft([1, 2, 3, 1, 2], 2)
    for _ in range(100):
        longer.learn(draft(0.9, 0.9).then(looked_up), 4, 4)
        alone.learn(draft(0.9, 0.9), 2, 2)
    assert longer.plan(NOTHING) == alone.plan(NOTHING)
    assert longer.likely(looked_up) > alone.likely(looked_up)


def test_wrong_guesses_shorten_the_blocks() -> None:
    pace = Pace(CHEAP, 5)
    before = pace.plan(NOTHING).blocks[0]
    for _ in range(500):
        pace.learn(draft(0.05, 0.05, 0.05, 0.05, 0.05), 5, 0)
    assert pace.plan(NOTHING).blocks.get(0, 0) < before
