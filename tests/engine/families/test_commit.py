"""Commit rules and draws as functions."""

import pytest
import torch

from niello.engine.families.commit import (
    draw_gumbel,
    draw_likeliest,
    draw_sampled,
    even_schedule,
    keep_top_k,
    keep_top_p,
    linear_schedule,
    margin,
    negative_entropy,
    renoise,
    take_above,
    take_first,
    take_surest,
    take_threshold,
)
from niello.infill.errors import SettingsError

MASKED = torch.tensor([True, True, False, True])
SURE = torch.tensor([0.5, 0.96, 0.99, 0.97])


def test_the_threshold_takes_what_is_sure_and_nothing_decided() -> None:
    assert take_threshold(SURE, MASKED, 0.95).tolist() == [False, True, False, True]


def test_the_threshold_forces_one_where_none_passes() -> None:
    assert take_threshold(SURE, MASKED, 0.999).tolist() == [False, False, False, True]


def test_nothing_is_forced_where_nothing_is_masked() -> None:
    assert not take_threshold(SURE, torch.zeros(4, dtype=torch.bool), 0.1).any()


def test_the_surest_are_taken_however_many_are_asked_for() -> None:
    assert take_surest(SURE, MASKED, 2).tolist() == [False, True, False, True]
    assert take_surest(SURE, MASKED, 9).tolist() == MASKED.tolist()
    assert take_surest(SURE, MASKED, 0).sum() == 0


def test_too_few_above_the_threshold_are_filled_up() -> None:
    assert take_above(SURE, MASKED, 0.965, 1).tolist() == [False, False, False, True]
    assert take_above(SURE, MASKED, 0.999, 2).tolist() == [False, True, False, True]


def test_the_first_masks_are_taken_in_order() -> None:
    assert take_first(MASKED, 2).tolist() == [True, True, False, False]


@pytest.mark.parametrize("n_masked", [0, 1, 5, 13])
@pytest.mark.parametrize("n_steps", [1, 3, 8, 100])
def test_schedules_commit_every_mask(n_masked: int, n_steps: int) -> None:
    assert sum(even_schedule(n_masked, n_steps)) == n_masked
    assert sum(linear_schedule(n_masked, n_steps)) == n_masked


def test_no_steps_are_refused() -> None:
    with pytest.raises(SettingsError, match="steps"):
        list(even_schedule(3, 0))


def test_margin_and_entropy_measure_how_sure_a_place_is() -> None:
    logits = torch.tensor([[9.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    assert margin(logits)[0] > 0.99 > 0.01 > margin(logits)[1]
    assert negative_entropy(logits)[0] > -0.01
    assert float(negative_entropy(logits)[1]) == pytest.approx(-1.0986, abs=1e-3)


def test_draws_equal_the_published_formulas_for_the_same_seed() -> None:
    logits = torch.randn(5, 61, generator=torch.Generator().manual_seed(2))
    ours = draw_gumbel(logits, 0.7, torch.Generator().manual_seed(5))
    torch.manual_seed(5)  # LLaDA's add_gumbel_noise, by the formula of its docstring
    noise = torch.rand_like(logits, dtype=torch.float64)
    theirs = (logits.double().exp() / (-noise.log()) ** 0.7).argmax(-1)
    assert torch.equal(ours.token_ids, theirs)
    ours = draw_sampled(logits, 0.7, torch.Generator().manual_seed(5))
    torch.manual_seed(5)  # Dream's sample_tokens
    probabilities = torch.softmax(logits / 0.7, -1)
    theirs = torch.distributions.Categorical(probs=probabilities).sample()
    assert torch.equal(ours.token_ids, theirs)


def test_the_likeliest_token_is_drawn_with_its_probability() -> None:
    drawn = draw_likeliest(torch.tensor([[0.0, 3.0]]))
    assert drawn.token_ids.tolist() == [1]
    assert float(drawn.confidence[0]) == pytest.approx(0.9526, abs=1e-4)


def test_top_p_keeps_the_token_that_crosses_the_bound() -> None:
    logits = torch.tensor([[0.5, 0.3, 0.2]]).log()
    assert keep_top_p(logits, 0.6).isinf().tolist() == [[False, False, True]]
    assert keep_top_p(logits, 0.01).isinf().tolist() == [[False, True, True]]
    assert keep_top_k(logits, 1).isinf().tolist() == [[False, True, True]]
    assert not keep_top_k(logits, 0).isinf().any()


def test_renoising_keeps_what_the_entropy_bound_allows() -> None:
    logits = torch.zeros(3, 50)
    logits[1, 7] = 60.0
    drawn = torch.tensor([1, 7, 2])
    result = renoise(logits, drawn, 0.1, torch.Generator().manual_seed(0))
    # The first unsure place still counts: only what comes before it must fit.
    assert result.accepted.sum() == 2
    assert result.accepted[1]
    assert result.token_ids[result.accepted].equal(drawn[result.accepted])
