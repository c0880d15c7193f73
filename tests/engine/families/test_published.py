"""Short names of published checkpoints."""

from niello.engine.families.published import PUBLISHED, describe, hub_id_of


def test_a_short_name_leads_to_its_hub_id_and_others_stay() -> None:
    assert hub_id_of("dream-coder") == "Dream-org/Dream-Coder-v0-Base-7B"
    assert hub_id_of("owner/name") == "owner/name"


def test_licence_and_memory_are_said_before_a_fetch() -> None:
    said = describe("llada")
    assert "MIT" in said
    assert "16 GB" in said
    assert "4 GB with 4 bits" in said
    assert all("/" in one.hub_id for one in PUBLISHED.values())
