"""The one door: from a checkpoint's folder to a `Filler`."""

from collections.abc import Callable, Mapping
from pathlib import Path

from niello.engine.load import load_config
from niello.infill.canvas import Filler
from niello.infill.errors import ModelError

from .bidirectional import Bidirectional
from .blocks import Blocks
from .causal import Causal
from .decoding import Decoding
from .diffuseq import DiffuSeq
from .dit import load_dit
from .elf import Elf
from .embedded import Denoiser, Embedded
from .gemma import load_canvas_model
from .load import Place, load_decoder
from .parts import Parts, join
from .place import choose_place
from .renoising import Renoising, read_schedule
from .run import Watch
from .table import find_family
from .tokens import FamilyTokens

_FILLERS: Mapping[str, Callable[[Parts], Filler]] = {
    "bidirectional": Bidirectional,
    "block": Blocks,
    "causal": Causal,
}
_DENOISERS: Mapping[str, Callable[..., Denoiser]] = {"elf": Elf, "diffuseq": DiffuSeq}


def is_family(folder: Path) -> bool:
    """Tell whether a folder holds a checkpoint as its publisher offers it."""
    try:
        config = load_config(folder)
        if "niello" in config:  # a model converted for the default way
            return False
        find_family(config, folder.name)
    except ModelError:
        return False
    return True


def open_family(
    folder: Path,
    decoding: Decoding | None = None,
    place: Place | None = None,
    watch: Watch | None = None,
) -> Filler:
    """Read a published checkpoint and return what fills canvases with it."""
    family = find_family(load_config(folder), folder.name)
    if family.unknown:
        raise ModelError(
            f"{folder.name} is of the family {family.name}; {family.unknown} cannot "
            "be found in public, and Niello does not guess"
        )
    tokens = FamilyTokens(folder, family)
    decoding = decoding or Decoding()
    if family.expand_id is not None and tokens.expand_id is not None:
        family = family._replace(expand_id=tokens.expand_id)
    place = place or choose_place()
    if family.way == "canvas":
        model = load_canvas_model(folder, place)
        parts = join(model, tokens, family, decoding, watch)
        return Renoising(parts, model, read_schedule(folder))
    if family.way == "vectors":
        read = _DENOISERS[family.name]
        denoiser = (
            read(folder, place, decoding.steps)
            if decoding.steps
            else read(folder, place)
        )
        parts = join(denoiser.model, tokens, family, decoding, watch)
        return Embedded(parts, denoiser)
    if family.dit:
        decoder = load_dit(folder, place)
    else:
        decoder = load_decoder(folder, family.names, place, family.style)
    return _FILLERS[family.way](join(decoder, tokens, family, decoding, watch))
