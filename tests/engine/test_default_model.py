"""The default model as it was fetched, held to an independent reading of its source."""

from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from niello.engine.known import DEFAULT
from niello.engine.store import Store
from niello.infill.errors import ModelError

pytestmark = [pytest.mark.model, pytest.mark.slow]
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def folder() -> Path:
    try:
        return Store().path("default")
    except ModelError as error:
        pytest.skip(str(error))


def test_token_ids_are_those_of_the_published_tokenizer(folder: Path) -> None:
    sources = Store().root / "sources"
    if not (sources / DEFAULT.file).is_file():
        pytest.skip("the file the model was converted from is not kept here")
    theirs = AutoTokenizer.from_pretrained(sources, gguf_file=DEFAULT.file)
    ours = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for path in sorted((ROOT / "engine").glob("*.py")):
        text = path.read_text("utf-8")
        if not any(token in text for token in theirs.get_added_vocab()):
            assert ours.encode(text).ids == theirs.encode(text), path.name


def test_the_weights_are_numbers_of_the_right_shapes(folder: Path) -> None:
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert tuple(file.get_slice("lm_head.weight").get_shape()) == (151936, 896)
        layer = file.get_tensor("model.layers.23.mlp.down_proj.weight")
    assert layer.shape == (896, 4864)
    assert torch.isfinite(layer.float()).all()
