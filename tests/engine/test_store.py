import os
import sys
from pathlib import Path

import pytest
from faults import change_one_byte, forbid_network, interrupt
from hub_server import Hub
from tiny_model import TinyModel, write_adapter

from niello.engine.store import Store
from niello.infill.errors import ModelError


def test_a_missing_model_says_how_to_fetch_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_network(monkeypatch)
    with pytest.raises(ModelError, match="niello models pull tiny"):
        store.path("tiny")


def test_an_unknown_name_says_what_may_be_named(store: Store) -> None:
    with pytest.raises(ModelError, match="name one of tiny, a hub checkpoint"):
        store.path("tinny")


def test_a_model_that_is_here_is_used_without_the_network(
    store: Store, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = store.pull("tiny")
    forbid_network(monkeypatch)
    assert store.path("tiny") == folder
    assert store.pull("tiny") == folder
    assert store.show("tiny").state == "ready"


def test_a_new_adapter_converts_again_without_the_network(
    store: Store, tiny: TinyModel, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = store.pull("tiny") / "model.safetensors"
    before = weights.read_bytes()
    write_adapter(tiny.adapters / tiny.known.adapter, seed=2)
    forbid_network(monkeypatch)
    store.path("tiny")
    assert weights.read_bytes() != before


def test_weights_with_one_byte_changed_are_refused(store: Store, hub: Hub) -> None:
    weights = store.pull("tiny") / "model.safetensors"
    change_one_byte(weights)
    with pytest.raises(ModelError, match=r"SHA-256 digest is .*, expected"):
        store.path("tiny")


def test_show_finds_a_change_that_left_no_trace(
    store: Store, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = store.pull("tiny") / "model.safetensors"
    monkeypatch.setattr("niello.engine.modelfolder._stamp", lambda path: (0, 0, 0))
    store.path("tiny")
    change_one_byte(weights)
    assert store.path("tiny") == weights.parent
    info = store.show("tiny")
    assert info.state == "damaged"
    assert "expected" in str(info.problem)
    with pytest.raises(ModelError):
        store.path("tiny")


def test_truncated_weights_are_refused(store: Store, hub: Hub) -> None:
    weights = store.pull("tiny") / "model.safetensors"
    os.truncate(weights, 1000)
    with pytest.raises(ModelError, match=r"model\.safetensors is damaged"):
        store.path("tiny")


def test_a_pull_repairs_a_damaged_model_from_its_source(
    store: Store, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_one_byte(store.pull("tiny") / "model.safetensors")
    forbid_network(monkeypatch)
    store.pull("tiny")
    assert store.show("tiny").state == "ready"


def test_remove_takes_everything_a_pull_has_left(store: Store, hub: Hub) -> None:
    hub.cut_after = [50_000]
    with pytest.raises(KeyboardInterrupt):
        store.pull("tiny", interrupt("Downloading", 0))
    store.remove("tiny")
    assert store.list()[0].state == "absent"
    store.pull("tiny")
    store.remove("tiny")
    assert store.list()[0].n_bytes == 0
    assert not list((store.root / "sources").iterdir())


def test_two_models_of_one_file_share_it_until_the_last_is_removed(
    store: Store, tiny: TinyModel, hub: Hub
) -> None:
    plain = tiny.known._replace(name="plain", adapter=None)
    both = Store(store.root, {"tiny": tiny.known, "plain": plain}, tiny.adapters)
    both.pull("tiny")
    assert [info.state for info in both.list()] == ["ready", "absent"]
    both.pull("plain")
    assert len(hub.asked) == 1
    both.remove("plain")
    assert both.list()[0].state == "ready"
    assert list((store.root / "sources").iterdir())
    both.remove("tiny")
    assert not list((store.root / "sources").iterdir())


def test_remove_never_touches_a_folder_of_the_user(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(ModelError, match="remove it by hand"):
        store.remove(str(tmp_path / "mine"))
    assert (tmp_path / "mine").is_dir()


@pytest.mark.parametrize("name", ["..", ".", "", "tiny/..", "tiny.part", "a/../.."])
def test_no_name_leads_out_of_the_store(store: Store, hub: Hub, name: str) -> None:
    store.pull("tiny")
    with pytest.raises(ModelError):
        store.remove(name)
    assert store.path("tiny").is_dir()


def test_torch_is_not_needed() -> None:
    import subprocess

    code = (
        "import sys, niello.engine.store, niello.engine.convert;"
        "sys.exit('torch' in sys.modules or 'huggingface_hub' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
