"""The fixtures that the end-to-end tests share."""

from e2e.neovim_fixture import open_file

__all__ = ["open_file"]
