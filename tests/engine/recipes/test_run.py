"""A training run goes on where it was stopped."""

from argparse import Namespace
from pathlib import Path

import torch
from torch import nn

from niello.engine.recipes.run import Run


def train(work: Path, n_steps: int) -> tuple[torch.Tensor, float]:
    """Take steps towards ones; return the weights and the next random number."""
    weights = nn.Parameter(torch.zeros(3, 2))
    run = Run(work, minutes=1.0, seed=1, groups=[([weights], 0.1)])
    for _ in range(n_steps):
        torch.square(weights - 1 - run.rng.random()).sum().backward()
        run.update()
    run.save()
    return weights.detach().clone(), run.rng.random()


def test_a_stopped_run_ends_like_an_unbroken_one(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", 8)
    train(tmp_path / "stopped", 3)
    stopped = train(tmp_path / "stopped", 5)
    assert torch.equal(stopped[0], whole[0])
    assert stopped[1] == whole[1]


def test_a_run_that_took_no_step_is_gone_on_with(tmp_path: Path) -> None:
    train(tmp_path, 0)
    weights, _ = train(tmp_path, 2)
    assert weights.abs().min() > 0


def test_a_run_measures_first_and_last_and_ends_saved(tmp_path: Path) -> None:
    run = Run(
        tmp_path, minutes=1.0, seed=1, groups=[([nn.Parameter(torch.zeros(1))], 1)]
    )
    done: list[str] = []

    def step() -> None:
        done.append("step")
        run.seconds += 29.9

    options = Namespace(measure_minutes=10, save_minutes=0.5)
    run.go(step, lambda: done.append("measure"), lambda: done.append("save"), options)
    whole = ["measure", "step", "step", "save", "step", "measure", "save"]
    assert done == whole
