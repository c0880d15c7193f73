"""Weights of few bits."""

import pytest
import torch

from niello.engine.families.place import choose_place, pack_groups
from niello.infill.errors import SettingsError


@pytest.mark.parametrize(("bits", "error"), [(8, 0.02), (4, 0.2)])
def test_few_bits_give_nearly_the_same_map(bits: int, error: float) -> None:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(96, 128, generator=generator)
    rows = torch.randn(5, 128, generator=generator)
    exact = rows @ weight.T
    packed = pack_groups(bits)(weight)(rows)
    assert (packed - exact).norm() / exact.norm() < error


def test_other_bits_are_refused() -> None:
    with pytest.raises(SettingsError, match="4, 8 or 16"):
        pack_groups(3)


def test_the_cpu_is_a_place() -> None:
    assert choose_place(8, "cpu").device.type == "cpu"
