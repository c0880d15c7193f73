"""What one entry of the table of families says."""

from typing import Literal, NamedTuple

from .names import LLAMA, Names
from .style import LLAMA_STYLE, Style

Way = Literal["bidirectional", "block", "canvas", "vectors", "causal"]
"""How a canvas is seen: whole, with the suffix; block by block after the prompt; as a
canvas of uniform noise after the prompt; whole, as vectors; token by token, which is
no diffusion."""

Commit = Literal[
    "threshold",
    "scheduled",
    "margin",
    "entropy",
    "random",
    "p2",
    "ancestral",
    "edit",
    "indel",
]
Schedule = Literal["even", "linear", "rounded"]
"""How masks are shared out where the number of passes is given: evenly, or as the
noise level falls linearly, rounded down (Dream) or to the nearest (dllm)."""


class FimOrder(NamedTuple):
    """The control tokens around prefix and suffix, in the order of a prompt."""

    parts: tuple[str, ...]  # "prefix" and "suffix" stand for the texts


PREFIX_FIRST = FimOrder(
    ("<|fim_prefix|>", "prefix", "<|fim_suffix|>", "suffix", "<|fim_middle|>")
)
SUFFIX_FIRST = FimOrder(
    ("<[fim-suffix]>", "suffix", "<[fim-prefix]>", "prefix", "<[fim-middle]>")
)
STARCODER = FimOrder(
    ("<fim_prefix>", "prefix", "<fim_suffix>", "suffix", "<fim_middle>")
)
DEEPSEEK = FimOrder(
    ("<｜fim▁begin｜>", "prefix", "<｜fim▁hole｜>", "suffix", "<｜fim▁end｜>")
)


class Family(NamedTuple):
    """What has to be known of a family beside its checkpoints' configs."""

    name: str
    way: Way
    names: Names = LLAMA
    style: Style = LLAMA_STYLE
    model_types: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    hint: str = ""  # part of the checkpoint's name, where its config is another's
    shift: bool = False  # the row before a place predicts it
    schedule: Schedule = "even"
    sampled: bool = False  # draws from the softmax, where others use Gumbel noise
    mask_id: int | None = None
    mask_token: str = ""
    block: int = 0
    sub_block: int = 0
    commit: Commit = "threshold"
    threshold: float = 0.95
    length: str = "fixed"
    expand_id: int | None = None  # an end token inside a canvas then deletes its place
    begins: bool = False  # a begin token stands before the prefix
    ends: bool = False  # an end token stands after the suffix
    fim: FimOrder | None = None
    dit: bool = False  # not a Llama's layers but MDLM's
    unknown: str = ""  # what cannot be found in public; the loader says it and stops
