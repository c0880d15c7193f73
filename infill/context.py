"""What the model may see of the world around a span."""

from typing import NamedTuple


class Context(NamedTuple):
    """Fixed text around a canvas; ``extra`` stands in front and belongs to other files."""

    prefix: str
    suffix: str
    extra: str = ""
