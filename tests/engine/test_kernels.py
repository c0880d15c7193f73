"""Linear maps in every number format this machine has."""

import pytest
import torch

from niello.engine.kernels import BFLOAT16, FLOAT32, INT8, Kernel, pack_quickest


@pytest.mark.parametrize(
    ("kernel", "error"), [(FLOAT32, 1e-5), (BFLOAT16, 0.02), (INT8, 0.02)]
)
def test_a_kernel_multiplies(kernel: Kernel, error: float) -> None:
    weight, rows = torch.randn(96, 64), torch.randn(5, 64)
    exact = rows @ weight.T
    distance = (kernel.pack(weight)(rows) - exact).norm() / exact.norm()
    assert distance < error


def test_whole_number_rows_do_not_depend_on_their_neighbours() -> None:
    linear = INT8.pack(torch.randn(96, 64))
    rows = torch.randn(40, 64)
    together = linear(rows)
    for n_rows in (1, 2, 7, 16):
        assert torch.equal(linear(rows[:n_rows]), together[:n_rows])


def test_a_row_of_zeros_stays_zero() -> None:
    assert not INT8.pack(torch.randn(8, 64))(torch.zeros(2, 64)).any()


def test_the_chosen_kernel_is_one_that_works() -> None:
    weight, rows = torch.randn(96, 64), torch.randn(5, 64)
    exact = rows @ weight.T
    assert (pack_quickest(weight)(rows) - exact).norm() / exact.norm() < 0.05
