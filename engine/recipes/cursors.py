"""Cuts samples by the product's own span and context: what training sees is served."""

import random

from tokenizers import Tokenizer

from niello.infill.context import gather, line_break_end
from niello.infill.parse import parse
from niello.infill.similar import Source, find_similar
from niello.infill.span import find_span

from .samples import (
    END,
    MIDDLE,
    PREFIX,
    SUFFIX,
    Corpus,
    Sample,
    encode,
    is_at_cursor,
    with_lead,
)

_LEAD_SHARE = 0.75  # of the samples; the rest is as batches are, without an anchor
_LEAD_LINES = 16
_EXTRA_SHARE = 0.1  # of the samples: other files of a package stand in front
_EXTRA_TOKENS = 128


def as_served(
    sample: Sample, prefix_tokens: int, suffix_tokens: int, rng: random.Random
) -> Sample:
    """Cut again what a sample cut, as the product would serve it."""
    with_anchor = rng.random() < _LEAD_SHARE
    if is_at_cursor(sample):
        return _at_cursor(sample, prefix_tokens, suffix_tokens, with_anchor)
    return with_lead(sample, rng.randrange(_LEAD_LINES)) if with_anchor else sample


def with_extra(sample: Sample, corpus: Corpus, rng: random.Random) -> Sample:
    """Put a stretch of another file in front of some samples."""
    if rng.random() >= _EXTRA_SHARE:
        return sample
    files = [Source(*file) for file in corpus.draw_files(rng, sample.language, 3)]
    text = sample.prefix + sample.lead
    extra = find_similar(text, len(text), files, _EXTRA_TOKENS)
    return sample._replace(prefix=extra + sample.prefix)


def _at_cursor(
    sample: Sample, prefix_tokens: int, suffix_tokens: int, with_anchor: bool
) -> Sample:
    head = sample.prefix + sample.given
    parsed = parse(head + sample.suffix, sample.language)
    span = find_span(parsed, len(head))
    context = gather(parsed, span, prefix_tokens, suffix_tokens)
    lead = context.lead if with_anchor else ""
    prefix = context.prefix.removesuffix(lead)
    given = parsed.text[span.start : span.end]
    # A suffix that begins on the next line leaves the line's end to the middle.
    line_end = "\n" if line_break_end(parsed, span) > span.end else ""
    middle = sample.middle + line_end
    return sample._replace(
        prefix=prefix, lead=lead, given=given, middle=middle, suffix=context.suffix
    )


def training_ids(tokenizer: Tokenizer, sample: Sample) -> tuple[list[int], int]:
    """Return a sample's ids with its middle and end, and where the loss starts.

    Fixed text and middle are encoded together: that is how the text would have been
    written, and the engine heals the token that the cursor cut.
    """
    prompt = [PREFIX, *encode(tokenizer, sample.prefix)]
    prompt += [SUFFIX, *encode(tokenizer, sample.suffix), MIDDLE]
    fixed = encode(tokenizer, sample.lead + sample.given)
    whole = encode(tokenizer, sample.lead + sample.given + sample.middle)
    same = 0
    while same < len(fixed) and fixed[same] == whole[same]:
        same += 1
    return [*prompt, *whole, END], len(prompt) + same
