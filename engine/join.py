"""The join score: how well the text behind a span follows each filling of it.

In fill-in-the-middle order a model has seen the suffix and copies it after anything. So
the fillings are read in the order of the file: prefix, filling, and the first tokens of
what comes next, whose log-probability is the score. The prefix's rows up to the anchor
are those of the prompt, and what the fillings share is computed once.
"""

from collections.abc import Sequence

import torch

from niello.infill.canvas import Canvas

from .cache import KVCache, common_length
from .denoise import text_rows
from .model import Transformer
from .tokens import Tokens

_N_TOKENS = 12  # of the text behind the span


def join_scores(
    model: Transformer,
    tokens: Tokens,
    canvas: Canvas,
    texts: Sequence[str],
    cache: KVCache,
) -> list[float]:
    """Return the mean log-probability of the text behind the span after each text.

    ``cache`` holds the canvas's prompt and is left as it is; ``canvas.after`` is not
    empty.
    """
    opening = tokens.opening(canvas.context)
    following = tokens.encode(canvas.after)[:_N_TOKENS]
    fixed = canvas.context.lead + canvas.given
    read = []
    for text in texts:
        if canvas.after.startswith("\n"):
            text = text.removesuffix("\n")  # The line break is not written twice.
        read.append([*opening, *tokens.encode(fixed + text), *following])
    n_shared = min(
        min(common_length(read[0], each), len(each) - len(following) - 1)
        for each in read
    )
    first = cache.copy(min(n_shared, common_length(cache.token_ids, opening)))
    if shared := read[0][len(first.token_ids) : n_shared]:
        model.forward([text_rows(shared, first)])
        first.keep(shared)
    n_done = len(first.token_ids)
    caches = [first, *(first.copy() for _ in texts[1:])]
    batch = [
        text_rows(each[n_done:-1], own) for each, own in zip(read, caches, strict=True)
    ]
    sizes = [len(rows.token_ids) for rows in batch]
    parts = torch.split(model.forward(batch), sizes)
    ends = torch.cat([part[-len(following) :] for part in parts])
    chances = model.logits(ends).log_softmax(-1)
    picked = chances.gather(1, torch.tensor(following * len(texts))[:, None])
    return picked.view(len(texts), -1).mean(1).tolist()
