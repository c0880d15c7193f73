"""What the table of costs counts; its times are for people to look at."""

from itertools import pairwise
from pathlib import Path

import pytest

from niello.engine.engine import Engine
from niello.engine.load import load_config
from niello.engine.recipes import cost


def test_bytes_and_operations_are_those_of_the_weights(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "memory_rate", lambda: 1e9)
    monkeypatch.setattr(cost, "arithmetic_rate", lambda: 1e9)
    engine = Engine.load(tiny_folder)
    facts, ffn_width = engine.model.facts, load_config(tiny_folder)["intermediate_size"]
    kv_width = facts.n_kv_heads * facts.head_dim
    layer = (
        2 * facts.width**2 + 2 * facts.width * kv_width + 3 * facts.width * ffn_width
    )
    head = facts.width * facts.vocabulary
    cached = facts.n_layers * 2 * kv_width * cost.PREFILL * 4
    found = cost.measure_passes(engine, ffn_width)
    assert [each.rows for each in found] == [*cost.ROWS, cost.PREFILL]
    assert found[0].megabytes * 1e6 == facts.n_layers * layer + head + cached
    for few, more in pairwise(found[:-1]):
        ratio = more.giga_operations / few.giga_operations
        assert ratio == pytest.approx(more.rows / few.rows)
        assert few.floor <= more.floor
    assert all(each.measured > 0 for each in found)


def test_a_table_has_a_line_a_row() -> None:
    rows = [cost.Grown(2, 256, 8, 0.25, 0.125, 0.5)]
    assert cost.table(rows).splitlines() == [
        "| threads | context | tokens | prefill | drafting | one at a time |",
        "| --- | --- | --- | --- | --- | --- |",
        "| 2 | 256 | 8 | 0.25 | 0.125 | 0.5 |",
    ]
