"""Measures a keystroke to ghost text in a real Neovim with the real server and model.

`python -m e2e.neovim_latency` with `src` and `tests` on PYTHONPATH prints one line a
place and the percentiles. The time runs from the key being sent to the first redraw
that shows ghost text, the server's own wait for a pause in typing included.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from .neovim_fixture import REAL, start_neovim
from .neovim_host import Neovim

PLACES = json.loads(Path(__file__).with_name("clients_places.json").read_text())
N_TYPED, BETWEEN_KEYS = 8, 0.12
QUIET = 6.0  # seconds after which a place is taken to have no suggestion


def measure(nvim: Neovim, folder: Path, name: str, text: str, key: str) -> float | None:
    """Return the milliseconds from the key to ghost text, or None if there is none.

    The letters before the key are typed as a person types, so that the server is as
    warm as it is in use; ghost text that they bring is dismissed before the key.
    """
    path = folder / name
    path.write_text(text[:-N_TYPED], "utf-8")
    nvim.keys("<Esc>")
    nvim.call("nvim_command", f"edit! {path}")
    nvim.keys(":setlocal indentexpr= noautoindent<CR>GA")
    for letter in text[-N_TYPED:]:
        nvim.keys({"\n": "<CR>", "<": "<lt>", " ": "<Space>"}.get(letter, letter))
        time.sleep(BETWEEN_KEYS)
    nvim.keys("<C-]>")
    nvim.until(lambda: not nvim.ghost().strip(), "no ghost text")
    start = time.perf_counter()
    nvim.keys(key.replace(" ", "<Space>"))
    while time.perf_counter() - start < QUIET:
        if nvim.ghost().strip():
            return (time.perf_counter() - start) * 1000
        nvim.wait_for_redraw()
    return None


def percentile(values: list[float], share: float) -> float:
    """Return the smallest value that so great a share does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def main() -> None:
    """Measure every place and print what was found."""
    times = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nvim = start_neovim(folder, "x = 1\n", command=REAL)
        for place in PLACES:
            took = measure(nvim, folder, *place)
            said = "nothing shown" if took is None else f"{took:.0f} ms"
            sys.stdout.write(f"{place[0]:10} {said}\n")
            times += [] if took is None else [took]
        nvim.close()
    sys.stdout.write(
        f"shown {len(times)} of {len(PLACES)}, p50 {statistics.median(times):.0f} ms, "
        f"p95 {percentile(times, 0.95):.0f} ms\n"
    )


if __name__ == "__main__":
    main()
