"""The server under load; ``niello bench fuzz`` and ``bench server`` run longer."""

import pytest

from niello.bench.fuzz import fuzz
from niello.bench.server import day

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_minute_of_random_messages_leaves_no_request_without_its_answer() -> None:
    found = fuzz(100_000, seed=3, seconds=60)
    assert found.requests > 100


def test_memory_is_flat_over_an_hour_of_typing() -> None:
    found = day(8000, 10, seed=3)
    assert found.growth_mb < 20
    # The machine may be slow to give the loop its turn; what the loop itself
    # computes in one turn is this server's own doing.
    assert found.longest_cpu_ms < 20
