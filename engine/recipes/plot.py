"""Plots what a mask training's log says: loss of the steps, tokens a pass.

    python -m niello.engine.recipes.plot WORK/log.jsonl learning_curve.png [STEP...]

Dotted lines mark the steps given, at which the recipe was changed.
"""

import json
import sys
from pathlib import Path

from matplotlib.figure import Figure

_AVERAGED = 15  # steps


def main() -> None:
    """Draw two panels: loss over the steps, and tokens a pass on held-out code."""
    log, picture = Path(sys.argv[1]), Path(sys.argv[2])
    changes = [int(step) for step in sys.argv[3:]]
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    steps = [row for row in rows if "plain" in row]
    measured = [row for row in rows if "measured" in row]
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    loss, tokens = figure.subplots(1, 2)
    for name, label in (("plain", "masks"), ("refined", "masks and sampler")):
        values = smooth([row[name] for row in steps])
        loss.plot([row["step"] for row in steps], values, label=label)
    loss.set(xlabel="step", ylabel=f"loss, mean of {_AVERAGED} steps")
    for name, label in (
        ("tpf_both", "masks, sampler and look-up"),
        ("tpf_masks", "masks and sampler"),
        ("tpf_plain", "masks"),
        ("tpf_lookup", "look-up alone"),
    ):
        values = [row["measured"]["all"][name] for row in measured]
        tokens.plot([row["step"] for row in measured], values, "o", label=label)
    tokens.set(xlabel="step", ylabel="tokens a pass, held-out")
    for panel in (loss, tokens):
        panel.grid(alpha=0.3)
        for step in changes:
            panel.axvline(step, color="gray", linestyle=":")
        panel.legend(frameon=False)
    figure.savefig(picture, dpi=110)


def smooth(values: list[float]) -> list[float]:
    """Return the running mean of the last values."""
    means = []
    for end in range(1, len(values) + 1):
        some = values[max(0, end - _AVERAGED) : end]
        means.append(sum(some) / len(some))
    return means


if __name__ == "__main__":
    main()
