import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hub_server import Hub, running
from safetensors.torch import save

from niello.engine.store import Store
from niello.infill.errors import ModelError

WEIGHTS = save({"w": torch.ones(1000)})
FILES = {
    "config.json": json.dumps({"model_type": "dream"}).encode(),
    "tokenizer.json": b"{}",
    "merges.txt": b"",
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"a pickle",
    "modeling_dream.py": b"raise SystemExit",
    "original/model.safetensors": b"twice",
    "consolidated.safetensors": b"twice",
}


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    files = {f"owner/name/{name}": content for name, content in FILES.items()}
    with running(files) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        yield hub


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home", {})


def local_checkpoint(folder: Path) -> Path:
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / name).write_bytes(FILES[name])
    return folder


def test_only_the_files_that_are_read_are_fetched(store: Store) -> None:
    folder = store.pull("owner/name")
    assert sorted(path.name for path in folder.iterdir()) == [
        "SHA256SUMS",
        "config.json",
        "merges.txt",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert store.path("owner/name") == folder


def test_a_checkpoint_is_listed_by_its_name_on_the_hub(store: Store) -> None:
    store.pull("owner/name")
    assert [(info.name, info.state, info.title) for info in store.list()] == [
        ("owner/name", "ready", "dream checkpoint")
    ]


def test_files_that_are_whole_are_not_fetched_again(store: Store, hub: Hub) -> None:
    def interrupt(step: str, done: int, total: int) -> None:
        if done > len(FILES["config.json"]) + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.pull("owner/name", interrupt)
    store.pull("owner/name")
    fetched = [path.rpartition("/")[2] for path, _, _ in hub.asked]
    assert fetched.count("config.json") == 1


def test_pickled_weights_are_refused(store: Store, hub: Hub) -> None:
    for name in [name for name in hub.files if name.endswith(".safetensors")]:
        del hub.files[name]
    with pytest.raises(ModelError, match="pickled weights are never read"):
        store.pull("owner/name")


def test_a_checkpoint_that_the_hub_does_not_have_is_one_line(
    store: Store, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"{hub.endpoint}/nowhere")
    with pytest.raises(ModelError, match="cannot fetch owner/other") as caught:
        store.pull("owner/other")
    assert "\n" not in str(caught.value)


def test_a_local_folder_can_be_taken_into_the_store(
    store: Store, tmp_path: Path, hub: Hub
) -> None:
    source = local_checkpoint(tmp_path / "stick")
    store.pull("owner/name", source=source)
    shutil.rmtree(source)
    assert store.show("owner/name").state == "ready"
    assert not hub.asked


def test_too_little_space_for_a_local_folder_names_both_numbers(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = local_checkpoint(tmp_path / "stick")
    needed = sum(path.stat().st_size for path in source.iterdir())
    usage = shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(ModelError, match=f"{needed} bytes are needed.* 100 are free"):
        store.pull("owner/name", source=source)
    assert not store.list()


def test_a_folder_is_used_where_it_lies(store: Store, tmp_path: Path) -> None:
    folder = local_checkpoint(tmp_path / "mine")
    assert store.path(str(folder)) == folder


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json"])
def test_a_folder_without_a_needed_file_is_refused(
    store: Store, tmp_path: Path, missing: str
) -> None:
    folder = local_checkpoint(tmp_path / "mine")
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=f"{missing} is missing"):
        store.path(str(folder))


def test_a_missing_shard_is_refused(store: Store, tmp_path: Path) -> None:
    folder = local_checkpoint(tmp_path / "mine")
    index = {"weight_map": {"w": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelError, match=r"00002\.safetensors is missing"):
        store.path(str(folder))


def test_a_digest_that_differs_names_file_expected_and_actual(
    store: Store, tmp_path: Path
) -> None:
    folder = local_checkpoint(tmp_path / "mine")
    (folder / "SHA256SUMS").write_text(f"{'0' * 64}  model.safetensors\n")
    with pytest.raises(ModelError) as caught:
        store.path(str(folder))
    assert str(folder / "model.safetensors") in str(caught.value)
    assert "0" * 64 in str(caught.value)


def test_a_list_of_digests_may_not_lead_out_of_its_folder(
    store: Store, tmp_path: Path
) -> None:
    folder = local_checkpoint(tmp_path / "mine")
    (folder / "SHA256SUMS").write_text(f"{'0' * 64}  ../secret\n")
    with pytest.raises(ModelError, match="is no digest and name"):
        store.path(str(folder))
