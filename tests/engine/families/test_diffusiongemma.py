"""DiffusionGemma against its implementation in transformers."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from family_checks import PlainTokens
from tiny_families import CPU, scramble
from transformers.models.diffusion_gemma import generation_diffusion_gemma

from niello.engine.families.decoder import Rows
from niello.engine.families.decoding import Decoding
from niello.engine.families.gemma import CanvasModel, load_canvas_model
from niello.engine.families.parts import join
from niello.engine.families.renoising import Renoising, Schedule
from niello.engine.families.run import Seen
from niello.engine.families.table import FAMILIES
from niello.infill.canvas import Canvas, Draws, never
from niello.infill.context import Context

VOCABULARY, CANVAS = 97, 12
END = VOCABULARY - 1


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    text = transformers.DiffusionGemmaTextConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        global_head_dim=16,
        num_global_key_value_heads=1,
        sliding_window=6,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        num_experts=4,
        top_k_experts=2,
        moe_intermediate_size=16,
        max_position_embeddings=512,
    )
    vision = transformers.Gemma4VisionConfig(
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=8,
    )
    config = transformers.DiffusionGemmaConfig(
        text_config=text, vision_config=vision, canvas_length=CANVAS
    )
    model = transformers.DiffusionGemmaForBlockDiffusion(config)
    scramble(model, spread=0.2)
    for number, layer in enumerate(model.model.decoder.layers):
        layer.layer_scalar.fill_(0.9 - 0.1 * number)
    for number, layer in enumerate(model.model.encoder.language_model.layers):
        layer.layer_scalar.fill_(1.1 + 0.1 * number)
    with torch.no_grad():
        # Random maps would enlarge the last digit of a pass tenfold in the next.
        model.model.decoder.self_conditioning.down_proj.weight.mul_(0.1)
    folder = tmp_path_factory.mktemp("gemma")
    model.save_pretrained(folder)
    return model.eval(), folder


def some(n_tokens: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, VOCABULARY, (n_tokens,), generator=generator)


def ours(model: CanvasModel, prompt: torch.Tensor, canvas: torch.Tensor) -> list[Any]:
    cache = model.new_cache()
    for start in range(0, len(prompt), 4):  # in parts, as a cache is continued
        part = prompt[start : start + 4]
        model.forward([Rows(part, torch.arange(start, start + len(part)), cache)])
        cache.keep(part.tolist())
    positions = torch.arange(len(prompt), len(prompt) + len(canvas))
    results: list[Any] = []
    logits = None
    for _ in range(2):
        vectors = model.condition(canvas, logits)
        rows = Rows(canvas, positions, cache, vectors=vectors)
        logits = model.logits(model.forward([rows]))
        results.append(logits)
    return results


@pytest.mark.parametrize("n_prompt", [3, 11])
def test_canvas_logits_equal_the_reference_with_and_without_self_conditioning(
    reference: tuple[Any, Path], n_prompt: int
) -> None:
    model, folder = reference
    prompt, canvas = some(n_prompt, 1), some(CANVAS, 2)
    with torch.no_grad():
        first = model(prompt[None], decoder_input_ids=canvas[None]).logits
        second = model(
            prompt[None],
            decoder_input_ids=canvas[None],
            self_conditioning_logits=first,
        ).logits
    results = ours(load_canvas_model(folder, CPU), prompt, canvas)
    torch.testing.assert_close(results[0], first[0], atol=1e-4, rtol=0)
    torch.testing.assert_close(results[1], second[0], atol=1e-4, rtol=0)


def filler(folder: Path, seen: list[Seen], **changed: Any) -> Renoising:
    family = next(one for one in FAMILIES if one.name == "diffusiongemma")
    schedule = Schedule(places=CANVAS)._replace(**changed)
    tokens: Any = PlainTokens(mask_id=None)
    model = load_canvas_model(folder, CPU)
    parts = join(model, tokens, family, Decoding(canvas=5), seen.append)
    return Renoising(parts, model, schedule)


@pytest.mark.parametrize("bound", [0.1, 2.0, 20.0])
@pytest.mark.parametrize("n_passes", [1, 6])
def test_tokens_equal_the_reference_for_the_same_seed(
    reference: tuple[Any, Path], bound: float, n_passes: int
) -> None:
    model, folder = reference
    prompt = some(7, 3)
    sampler = generation_diffusion_gemma.EntropyBoundSamplerConfig(bound)
    torch.manual_seed(5)
    expected = model.generate(
        prompt[None],
        max_new_tokens=2 * CANVAS,
        max_denoising_steps=n_passes,
        sampler_config=sampler,
        eos_token_id=None,
        pad_token_id=None,
    ).sequences[0, len(prompt) :]
    seen: list[Seen] = []
    context = Context(PlainTokens(mask_id=None).decode(prompt.tolist()), "")
    canvas = Canvas(context, "", 2 * CANVAS, lambda text: None)
    filler(folder, seen, bound=bound, n_passes=n_passes).fill(
        [canvas], Draws(1, 0.0, 5), never
    )
    assert seen[-1].token_ids == expected.tolist()


def test_a_suffix_stands_fixed_at_the_end_of_the_canvas(
    reference: tuple[Any, Path],
) -> None:
    _, folder = reference
    prefix = PlainTokens(mask_id=None).decode(some(7, 3).tolist())
    texts = set()
    for suffix in ("ABC", "XYZ"):
        canvas = Canvas(Context(prefix, suffix), "", 5, lambda text: None)
        ((fill,),) = filler(folder, [], n_passes=6).fill([canvas], Draws(), never)
        assert len(fill.text) <= 5
        texts.add(fill.text)
    assert len(texts) == 2  # The canvas sees its suffix.


def test_a_batch_equals_its_single_canvases(reference: tuple[Any, Path]) -> None:
    _, folder = reference
    decode = PlainTokens(mask_id=None).decode
    batch = [
        Canvas(
            Context(decode(some(3 + 2 * n, n).tolist()), "AB"), "", 5, lambda _: None
        )
        for n in range(4)
    ]
    together = filler(folder, [], n_passes=6).fill(batch, Draws(seed=3), never)
    alone = [
        filler(folder, [], n_passes=6).fill([one], Draws(seed=3), never)[0]
        for one in batch
    ]
    assert [f[0].text for f in together] == [f[0].text for f in alone]


def test_text_kept_from_an_earlier_request_changes_nothing(
    reference: tuple[Any, Path],
) -> None:
    _, folder = reference
    prefix = PlainTokens(mask_id=None).decode(some(9, 4).tolist())
    canvas = Canvas(Context(prefix, "ABC"), "", 5, lambda text: None)
    one = filler(folder, [], n_passes=6)
    first = one.fill([canvas], Draws(), never)[0][0]
    again = one.fill([canvas], Draws(), never)[0][0]
    assert first.text == again.text
    assert again.n_cached == 8


def test_a_canvas_that_may_not_be_empty_is_written(
    reference: tuple[Any, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = reference
    logits = CanvasModel.logits

    def changed(self: CanvasModel, hidden: torch.Tensor) -> torch.Tensor:
        raised = logits(self, hidden).clone()
        raised[:, END] += 60
        return raised

    monkeypatch.setattr(CanvasModel, "logits", changed)
    monkeypatch.setattr(PlainTokens, "end_ids", frozenset({END}))
    one = filler(folder, [], n_passes=3)
    monkeypatch.setattr(one._parts.tokens, "special_ids", frozenset({END}))
    prefix = PlainTokens(mask_id=None).decode(some(9, 4).tolist())
    for may_be_empty in (True, False):
        canvas = Canvas(Context(prefix, "ABC"), "", 5, lambda text: None, may_be_empty)
        ((fill,),) = one.fill([canvas], Draws(), never)
        assert bool(fill.text.strip()) is not may_be_empty
