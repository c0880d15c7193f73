"""A training run that can be stopped at any time: clock, rate, checkpoint and log."""

import argparse
import json
import math
import random
from pathlib import Path

import torch
from torch import nn

_WARM_UP = 20  # steps


class Run:
    """What is trained and how far it is; all of it lies in the checkpoint."""

    def __init__(
        self,
        work: Path,
        minutes: float,
        seed: int,
        groups: list[tuple[list[nn.Parameter], float]],
    ) -> None:
        """Start afresh, or where the work folder's checkpoint stands.

        ``groups`` pairs parameters with their highest learning rate.
        """
        work.mkdir(parents=True, exist_ok=True)
        self.work, self.minutes = work, minutes
        self.rng = random.Random(seed)
        self.step, self.seconds = 0, 0.0
        self.groups = groups
        self.optimizer = torch.optim.AdamW(
            [{"params": parameters} for parameters, _ in groups],
            betas=(0.9, 0.98),
            weight_decay=0.0,
        )
        if self._checkpoint.exists():
            self._resume()

    @property
    def is_over(self) -> bool:
        """Whether the minutes are spent."""
        return self.seconds >= 60 * self.minutes

    @property
    def rate(self) -> float:
        """Warm up, hold, and fall along a cosine over the last half of the minutes."""
        spent = self.seconds / (60 * self.minutes)
        fall = 0.5 + 0.5 * math.cos(math.pi * min(1.0, max(0.0, 2 * spent - 1)))
        return min(1.0, (self.step + 1) / _WARM_UP) * max(0.03, fall)

    def update(self) -> None:
        """Take a step along the gradients, cut to length 1, and forget them."""
        for group, (_, highest) in zip(
            self.optimizer.param_groups, self.groups, strict=True
        ):
            group["lr"] = highest * self.rate
        nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1

    def log(self, **facts: object) -> None:
        """Add a line to the log and show it."""
        row = {"step": self.step, "minutes": round(self.seconds / 60, 2)} | facts
        with (self.work / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)

    def save(self) -> None:
        """Write the checkpoint in one step."""
        state = {
            "parameters": [p.detach() for p in self._parameters],
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "seconds": self.seconds,
            "rng": self.rng.getstate(),
        }
        part = self._checkpoint.with_suffix(".part")
        torch.save(state, part)
        part.replace(self._checkpoint)

    def _resume(self) -> None:
        state = torch.load(self._checkpoint, weights_only=False)
        with torch.no_grad():
            for parameter, stored in zip(
                self._parameters, state["parameters"], strict=True
            ):
                parameter.copy_(stored)
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = state["step"], state["seconds"]
        self.rng.setstate(state["rng"])

    @property
    def _parameters(self) -> list[nn.Parameter]:
        return [p for parameters, _ in self.groups for p in parameters]

    @property
    def _checkpoint(self) -> Path:
        return self.work / "checkpoint.pt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what every recipe that trains asks for."""
    parser.add_argument("work", type=Path, help="checkpoint, log and export")
    parser.add_argument("--base", type=Path, required=True, help="the default GGUF")
    parser.add_argument("--corpus", type=Path, required=True, help="files.jsonl")
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json")
    parser.add_argument("--start", type=Path, help="weights to go on from")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--measure-minutes", type=float, default=10)
    parser.add_argument("--save-minutes", type=float, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
