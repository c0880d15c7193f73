"""How masks become tokens: pure functions on the logits of one canvas.

A pass is answered in two steps. *Drawing* gives every place a token and says how sure
the model is of it; *taking* says which of the masked places are committed now. Each
published sampler is one choice of the two. Rows of logits are places, ``(places,
vocabulary)``; nothing here knows a model, a cache or a text.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor

from niello.infill.errors import SettingsError

_TINY = (
    1e-10  # keeps the logarithm of a probability of 0 finite, as Dream's sampler does
)


class Drawn(NamedTuple):
    """A token for every place, and the model's probability of it."""

    token_ids: Tensor  # (places,) int64
    confidence: Tensor  # (places,)


def draw_likeliest(logits: Tensor) -> Drawn:
    """Draw the likeliest token of each place."""
    confidence, token_ids = logits.float().softmax(-1).max(-1)
    return Drawn(token_ids, confidence)


def draw_gumbel(
    logits: Tensor, temperature: float, generator: torch.Generator
) -> Drawn:
    """Draw by the Gumbel trick, as LLaDA does.

    In float64: in lower precision the noise favours likely tokens (arXiv 2409.02908).
    The confidence is the probability at temperature 1.
    """
    exact = logits.double()
    noise = torch.rand(
        exact.shape, dtype=torch.float64, generator=generator, device=exact.device
    )
    token_ids = (exact.exp() / (-noise.log()) ** temperature).argmax(-1)
    return Drawn(token_ids, _gather(logits.float().softmax(-1), token_ids))


def draw_sampled(
    logits: Tensor,
    temperature: float,
    generator: torch.Generator,
    top_p: float = 1.0,
    top_k: int = 0,
) -> Drawn:
    """Draw from the softmax, as Dream, SDAR and LLaDA2 do."""
    logits = keep_top_k(keep_top_p(logits.float() / temperature, top_p), top_k)
    probabilities = logits.softmax(-1)
    token_ids = torch.multinomial(probabilities, 1, True, generator=generator)[:, 0]
    return Drawn(token_ids, _gather(probabilities, token_ids))


def keep_top_p(logits: Tensor, top_p: float) -> Tensor:
    """Rule out tokens beyond the likeliest that together have ``top_p``."""
    if top_p >= 1:
        return logits
    ordered, order = logits.sort(descending=True)
    beyond = ordered.softmax(-1).cumsum(-1) > top_p
    beyond[..., 1:] = beyond[..., :-1].clone()
    beyond[..., 0] = False  # The token that crosses the bound still counts.
    return logits.masked_fill(beyond.scatter(-1, order, beyond), float("-inf"))


def keep_top_k(logits: Tensor, top_k: int) -> Tensor:
    """Rule out tokens less likely than the ``top_k`` likeliest; 0 rules out none."""
    if top_k <= 0:
        return logits
    least = logits.topk(min(top_k, logits.shape[-1]), -1).values[..., -1:]
    return logits.masked_fill(logits < least, float("-inf"))


def margin(logits: Tensor) -> Tensor:
    """Return how far ahead of the second the likeliest token of each place is."""
    first, second = logits.float().softmax(-1).topk(2, -1).values.unbind(-1)
    return first - second


def negative_entropy(logits: Tensor) -> Tensor:
    """Return minus the entropy of each place in nats: 0 where the model is certain."""
    probabilities = logits.float().softmax(-1)
    return (probabilities * (probabilities + _TINY).log()).sum(-1)


def take_threshold(confidence: Tensor, masked: Tensor, threshold: float) -> Tensor:
    """Take the masked places at or above ``threshold``, and always the surest one."""
    confidence = confidence.masked_fill(~masked, float("-inf"))
    taken = (confidence >= threshold) & masked
    if masked.any():
        taken[confidence.argmax()] = True
    return taken


def take_surest(confidence: Tensor, masked: Tensor, n_places: int) -> Tensor:
    """Take the ``n_places`` masked places of the highest confidence."""
    confidence = confidence.masked_fill(~masked, float("-inf"))
    taken = torch.zeros_like(masked)
    n_places = min(n_places, int(masked.sum()))
    taken[confidence.topk(n_places).indices] = True
    return taken


def take_above(
    confidence: Tensor, masked: Tensor, threshold: float, n_places: int
) -> Tensor:
    """Take all masked places above ``threshold``; if too few, the surest ``n_places``.

    SDAR's dynamic and LLaDA2's rule.
    """
    taken = (confidence > threshold) & masked
    if int(taken.sum()) >= n_places:
        return taken
    return take_surest(confidence, masked, n_places)


def take_first(masked: Tensor, n_places: int) -> Tensor:
    """Take the first ``n_places`` masked places."""
    return masked & (masked.cumsum(-1) <= n_places)


def take_random(masked: Tensor, generator: torch.Generator) -> Tensor:
    """Take one masked place, each as likely as the next.

    The first-hitting sampler of masked diffusion (arXiv 2409.02908), as BD3-LM uses it.
    """
    taken = torch.zeros_like(masked)
    places = masked.nonzero()[:, 0]
    if len(places):
        picked = torch.randint(
            len(places), (1,), generator=generator, device=generator.device
        )
        taken[places[picked.cpu()]] = True
    return taken


class Replanned(NamedTuple):
    """Places that change in a pass that may take tokens back."""

    taken: Tensor  # (places,) bool: masks that become tokens
    remasked: Tensor  # (places,) bool: tokens that become masks


def replan(confidence: Tensor, masked: Tensor, n_masks: int) -> Replanned:
    """Leave the ``n_masks`` least sure places masked, decided before or not.

    How sure a place is, is told by the token drawn for it in this pass, whatever it
    holds (path planning, arXiv 2502.03540, as Open-dCoder uses it).
    """
    unsure = take_surest(-confidence, torch.ones_like(masked), n_masks)
    return Replanned(masked & ~unsure, ~masked & unsure)


def draw_ancestral(
    logits: Tensor,
    temperature: float,
    levels: tuple[float, float],
    mask_id: int,
    generator: torch.Generator,
) -> Drawn:
    """Draw for every place a token or, still, the mask, as the noise falls.

    ``levels`` are the shares of masks before and after. MDLM's sampler (arXiv
    2406.07524), with float32 noise as published.
    """
    level, next_level = levels
    probabilities = (logits.float() / temperature).softmax(-1)
    weights = probabilities * (level - next_level)
    weights[:, mask_id] = next_level
    noise = torch.rand(weights.shape, generator=generator, device=weights.device)
    token_ids = (weights / (_TINY - (noise + _TINY).log())).argmax(-1)
    return Drawn(token_ids, _gather(probabilities, token_ids))


def even_schedule(n_masked: int, n_steps: int) -> Iterator[int]:
    """Yield how many places each pass commits; what does not divide comes first.

    With fewer masks than passes the last passes would commit nothing and are left out.
    """
    if n_steps < 1:
        raise SettingsError(f"steps is {n_steps}; give 1 or more")
    share, rest = divmod(n_masked, n_steps)
    for step in range(min(n_steps, n_masked)):
        yield share + (step < rest)


def linear_schedule(n_masked: int, n_steps: int, least: float = 1e-3) -> Iterator[int]:
    """Yield how many places each pass commits as Dream's noise falls to ``least``.

    A pass may commit none; the last commits whatever is left.
    """
    levels = torch.linspace(1, least, n_steps + 1)
    for step in range(n_steps):
        part = 1 - levels[step + 1] / levels[step] if step < n_steps - 1 else 1
        n_places = int(torch.tensor(n_masked) * part)
        n_masked -= n_places
        yield n_places


def rounded_schedule(n_masked: int, n_steps: int) -> Iterator[int]:
    """Yield how many places each pass commits as dllm's noise falls linearly.

    Of what is left a share is rounded, halves to even; the levels are float32 as they
    are published, which decides what is a half.
    """
    levels = torch.tensor([n / n_steps for n in range(n_steps, -1, -1)])
    levels = 1 - (1 - levels)
    for level, next_level in itertools.pairwise(levels):
        n_places = min(n_masked, round(n_masked * (1 - float(next_level / level))))
        n_masked -= n_places
        yield n_places


SCHEDULES: Mapping[str, Callable[[int, int], Iterator[int]]] = MappingProxyType(
    {
        "even": even_schedule,
        "linear": linear_schedule,
        "rounded": rounded_schedule,
    }
)


class Renoised(NamedTuple):
    """A canvas of uniform noise after one pass."""

    token_ids: Tensor  # (places,) the next canvas
    accepted: Tensor  # (places,) bool


def renoise(
    logits: Tensor, drawn: Tensor, bound: float, generator: torch.Generator
) -> Renoised:
    """Keep the surest places of ``drawn`` and fill the others with random tokens.

    Places are kept in the order of their entropy for as long as the entropy of those
    before adds up to at most ``bound`` nats (DiffusionGemma's sampler).
    """
    log_probabilities = logits.float().log_softmax(-1)
    entropy = -(log_probabilities.exp() * log_probabilities).nan_to_num().sum(-1)
    ordered, order = entropy.sort()
    accepted = torch.zeros_like(drawn, dtype=torch.bool)
    accepted[order] = ordered.cumsum(-1) - ordered <= bound
    noise = torch.randint(
        logits.shape[-1], drawn.shape, generator=generator, device=drawn.device
    )
    return Renoised(torch.where(accepted, drawn, noise), accepted)


def _gather(probabilities: Tensor, token_ids: Tensor) -> Tensor:
    return probabilities.gather(-1, token_ids[..., None])[..., 0]
