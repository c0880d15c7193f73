"""Keys and values found again by their tokens."""

import torch

from niello.engine.cache import STEP, CacheStore, KVCache, common_length


def filled(token_ids: list[int]) -> KVCache:
    cache = KVCache(n_layers=1, n_kv_heads=1, head_dim=2)
    cache.reserve(len(token_ids))
    rows = torch.tensor(token_ids).float()[:, None, None].expand(-1, 1, 2)
    cache.write(0, rows, -rows)
    cache.keep(token_ids)
    return cache


def test_the_longest_common_beginning_is_lent() -> None:
    store = CacheStore(1, 1, 2, max_bytes=1 << 20)
    store.give_back(filled([1, 2, 3, 4]))
    store.give_back(filled([1, 9]))
    assert store.borrow([1, 2, 3, 7, 8]).token_ids == [1, 2, 3]


def test_a_cache_of_another_document_is_left_alone() -> None:
    store = CacheStore(1, 1, 2, max_bytes=1 << 20)
    store.give_back(filled([1, 2, 3, 4, 5, 6]))
    assert store.borrow([1, 7]).token_ids == []
    assert store.borrow([1, 2, 3, 4, 5, 6, 7]).token_ids == [1, 2, 3, 4, 5, 6]


def test_the_least_recently_used_goes_when_memory_is_short() -> None:
    one = filled([1, 2]).n_bytes
    store = CacheStore(1, 1, 2, max_bytes=2 * one)
    for first in (1, 2, 3):
        store.give_back(filled([first, 0]))
    assert store.n_bytes <= 2 * one
    assert store.borrow([1, 0]).token_ids == []


def test_a_grown_cache_keeps_its_rows() -> None:
    cache = filled([5, 6])
    cache.reserve(1000)
    keys, values = cache.write(0, torch.ones(1, 1, 2), torch.ones(1, 1, 2))
    assert keys[0, 0, :3].tolist() == [5.0, 6.0, 1.0]
    assert values[0, 0, :2, 0].tolist() == [-5.0, -6.0]


def test_rows_may_lie_on_both_sides_of_a_step() -> None:
    token_ids = list(range(STEP - 2))
    cache = filled(token_ids)
    cache.reserve(4)
    new = torch.arange(4.0)[:, None, None].expand(-1, 1, 2)
    keys, values = cache.write(0, new, new)
    assert keys[0, 1, STEP - 3 : STEP + 2].tolist() == [STEP - 3.0, 0, 1, 2, 3]
    assert values[0, 0, -3:, 1].tolist() == [3.0 - STEP, 0, 1]
    assert values[1, 0, :2, 1].tolist() == [2, 3]


def test_a_copy_is_independent() -> None:
    cache = filled([1, 2, 3])
    twin = cache.copy()
    twin.truncate(1)
    assert cache.token_ids == [1, 2, 3]


def test_common_length_of_a_beginning_is_its_length() -> None:
    assert common_length([1, 2], [1, 2, 3]) == 2
    assert common_length([1, 2, 4], [1, 2, 3]) == 2
