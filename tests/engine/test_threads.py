"""How many threads compute while others need the cores."""

from collections.abc import Iterator

import pytest
import torch

from niello.engine.threads import Threads


class FakeMachine:
    """Two cores, of which others take ``taken``."""

    def __init__(self) -> None:
        self.now = self.worked = 0.0
        self.taken = 0
        self.threads = Threads(2, lambda: self.now, lambda: self.worked)

    def compute(self) -> int:
        """Compute a pass of 50 ms; return with how many threads."""
        with self.threads.watched():
            n_threads = torch.get_num_threads()
            crowded = n_threads + self.taken > 2
            self.now += 0.2 if crowded else 0.05
            self.worked += 0.2 if crowded else 0.05 * n_threads
        return n_threads


@pytest.fixture
def machine() -> Iterator[FakeMachine]:
    before = torch.get_num_threads()
    yield FakeMachine()
    torch.set_num_threads(before)


def test_all_threads_compute_on_a_quiet_machine(machine: FakeMachine) -> None:
    assert {machine.compute() for _ in range(50)} == {2}


def test_fewer_compute_while_others_need_a_core(machine: FakeMachine) -> None:
    machine.taken = 1
    used = [machine.compute() for _ in range(400)]
    assert used[0] == 2
    assert used[1] == 1
    # More are tried now and then, more and more rarely.
    tried = [place for place, n in enumerate(used) if n == 2]
    assert 3 <= len(tried) <= 8
    assert tried[2] - tried[1] < tried[-1] - tried[-2]


def test_all_threads_are_back_when_the_others_are_done(machine: FakeMachine) -> None:
    machine.taken = 1
    for _ in range(400):
        machine.compute()
    machine.taken = 0
    used = [machine.compute() for _ in range(300)]
    assert used[-1] == 2
    # The next time begins with a short pause again.
    machine.taken = 1
    machine.compute(), machine.compute()
    machine.taken = 0
    assert [machine.compute() for _ in range(30)][-1] == 2


def test_one_that_fails_is_counted_as_well(machine: FakeMachine) -> None:
    machine.taken = 1
    with pytest.raises(KeyError), machine.threads.watched():
        machine.now += 0.2
        raise KeyError
    assert machine.compute() == 1
