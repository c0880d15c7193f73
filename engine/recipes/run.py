"""A training run that can be stopped at any time: clock, rate, checkpoint and log."""

import argparse
import json
import math
import random
import time
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

_WARM_UP = 20  # steps
_MOMENTS = ("exp_avg", "exp_avg_sq")  # AdamW's, for each parameter


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

    def go(
        self,
        step: Callable[[], None],
        measure: Callable[[], None],
        save: Callable[[], None],
        options: argparse.Namespace,
    ) -> None:
        """Take steps until the time is over; measure and save on the way and then."""
        measured = self.seconds if self.step else -math.inf
        saved = self.seconds
        while not self.is_over:
            if self.seconds - measured > 60 * options.measure_minutes:
                measure()
                measured = self.seconds
            begun = time.monotonic()
            step()
            self.seconds += time.monotonic() - begun
            if self.seconds - saved > 60 * options.save_minutes:
                save()
                saved = self.seconds
        measure()
        save()

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
        tensors = {}
        for number, parameter in enumerate(self._parameters):
            tensors[f"{number}.parameter"] = parameter.detach()
            if moments := self.optimizer.state[parameter]:
                tensors |= {f"{number}.{name}": moments[name] for name in _MOMENTS}
        facts = {"step": self.step, "seconds": self.seconds, "rng": self.rng.getstate()}
        part = self._checkpoint.with_suffix(".part")
        save_file(tensors, part, {"run": json.dumps(facts)})
        part.replace(self._checkpoint)

    def _resume(self) -> None:
        with safe_open(self._checkpoint, "pt") as file:
            facts = json.loads(file.metadata()["run"])
            tensors = {name: file.get_tensor(name) for name in list(file.keys())}
        for number, parameter in enumerate(self._parameters):
            parameter.data.copy_(tensors[f"{number}.parameter"])
            if facts["step"]:
                self.optimizer.state[parameter] = {
                    "step": torch.tensor(float(facts["step"])),
                    **{
                        name: tensors[f"{number}.{name}"].to(parameter.device)
                        for name in _MOMENTS
                    },
                }
        self.step, self.seconds = facts["step"], facts["seconds"]
        version, words, gauss = facts["rng"]
        self.rng.setstate((version, tuple(words), gauss))

    @property
    def _parameters(self) -> list[nn.Parameter]:
        return [p for parameters, _ in self.groups for p in parameters]

    @property
    def _checkpoint(self) -> Path:
        return self.work / "checkpoint.safetensors"


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
