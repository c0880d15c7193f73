"""Draws docs/pictures/neovim.png: a real Neovim while the real server fills.

`python -m e2e.neovim_picture` with `src` and `tests` on PYTHONPATH. The picture is
drawn from the cells and colours that Neovim sends to its screen; no text is added.
"""

import tempfile
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from .neovim_fixture import REAL, start_neovim
from .neovim_host import REPOSITORY
from .neovim_screen import Screen

TARGET = REPOSITORY / "docs" / "pictures" / "neovim.png"
FONT = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf"
SIZE = 16
TEXT = """\
class Stack:
    \"\"\"Holds items; the last one in is the first one out.\"\"\"

    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
"""


def colour(number: int) -> str:
    """Write a colour as Pillow reads it."""
    return f"#{number:06x}"


def draw(screen: Screen, rows: int) -> Image.Image:
    """Return the first rows of a screen as a picture."""
    font = ImageFont.truetype(FONT, SIZE)
    width, height = round(font.getlength("M")), SIZE + 5
    columns = len(screen.cells[0])
    plain, ground = screen.colours
    image = Image.new("RGB", (columns * width, rows * height), colour(ground))
    pen = ImageDraw.Draw(image)
    for row, cells in enumerate(screen.cells[:rows]):
        for column, cell in enumerate(cells):
            look = screen.highlights.get(cell.highlight, {})
            front = look.get("foreground", plain)
            back = look.get("background", ground)
            if look.get("reverse") or (row, column) == screen.cursor:
                front, back = back, front
            left, top = column * width, row * height
            pen.rectangle((left, top, left + width - 1, top + height - 1), colour(back))
            pen.text((left, top + 1), cell.text, font=font, fill=colour(front))
    return image


def main() -> None:
    """Fill a function and draw what stands on the screen."""
    init = "vim.opt.number = true; vim.opt.laststatus = 2; vim.opt.statusline = "
    init += "\" %f %m%=%{v:lua.require'niello'.statusline()} \""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nvim = start_neovim(folder, TEXT, "stack.py", init=init, command=REAL)
        nvim.call("nvim_ui_try_resize", 76, 16)
        nvim.call("nvim_command", f"cd {folder}")
        nvim.call("nvim_command", "edit stack.py | syntax enable")
        nvim.keys("GA<CR>")
        nvim.until(lambda: nvim.ghost().strip(), "ghost text")
        # Ghost text gets the colour it has for everybody.
        nvim.lua("vim.api.nvim_set_hl(0, 'NielloGhost', { link = 'Comment' })")
        nvim.until(lambda: not nvim.ghost().strip(), "the usual colour")
        image = draw(nvim.screen, len(nvim.screen.cells))
        nvim.close()
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    image.quantize(32).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()
