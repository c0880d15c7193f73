"""Cuts samples by the product's own span and context: what training sees is served."""

from tokenizers import Tokenizer

from niello.infill.context import gather
from niello.infill.parse import parse
from niello.infill.span import find_span

from .samples import END, MIDDLE, PREFIX, SUFFIX, Sample, encode, is_at_cursor


def at_cursor(sample: Sample, prefix_tokens: int, suffix_tokens: int) -> Sample:
    """Cut again what a sample cut, by a document in which its middle is missing."""
    if not is_at_cursor(sample):
        return sample
    head = sample.prefix + sample.given
    parsed = parse(head + sample.suffix, sample.language)
    span = find_span(parsed, len(head))
    context = gather(parsed, span, prefix_tokens, suffix_tokens)
    given = parsed.text[span.start : span.end]
    return sample._replace(prefix=context.prefix, given=given, suffix=context.suffix)


def training_ids(tokenizer: Tokenizer, sample: Sample) -> tuple[list[int], int]:
    """Return a sample's ids with its middle and end, and where the loss starts.

    Given text and middle are encoded together: that is how the text would have been
    written, and the engine heals the token that the cursor cut.
    """
    prompt = [PREFIX, *encode(tokenizer, sample.prefix)]
    prompt += [SUFFIX, *encode(tokenizer, sample.suffix), MIDDLE]
    given = encode(tokenizer, sample.given)
    whole = encode(tokenizer, sample.given + sample.middle)
    same = 0
    while same < len(given) and given[same] == whole[same]:
        same += 1
    return [*prompt, *whole, END], len(prompt) + same
