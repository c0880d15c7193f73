"""The screen of an attached Neovim, drawn from its own redraw events.

What a test reads here is what a person sees, virtual text included. Knows only the
`ext_linegrid` events of `:help ui.txt`.
"""

from typing import Any, NamedTuple


class Cell(NamedTuple):
    """One place of the grid: its text and the number of its highlight."""

    text: str = " "
    highlight: int = 0


class Screen:
    """A grid of cells with its highlights and the cursor."""

    def __init__(self) -> None:
        self.cells: list[list[Cell]] = []
        self.highlights: dict[int, dict[str, Any]] = {0: {}}
        self.colours = (0xE0E2EA, 0x14161B)
        self.cursor = (0, 0)

    def handle(self, events: list[list[Any]]) -> bool:
        """Apply a batch of redraw events; True if it ends in a flush."""
        flushed = False
        for name, *calls in events:
            handler = getattr(self, f"_{name}", None)
            flushed = flushed or name == "flush"
            for arguments in calls if handler else []:
                handler(*arguments)
        return flushed

    def lines(self) -> list[str]:
        """Return the rows as text, without the blanks at their ends."""
        return ["".join(cell.text for cell in row).rstrip() for row in self.cells]

    def painted(self, foreground: int) -> str:
        """Return the text that shows in a colour, rows joined by newlines."""
        numbers = {
            number
            for number, attributes in self.highlights.items()
            if attributes.get("foreground") == foreground
        }
        rows = (
            "".join(cell.text for cell in row if cell.highlight in numbers)
            for row in self.cells
        )
        return "\n".join(row.rstrip() for row in rows if row)

    def _default_colors_set(self, foreground: int, background: int, *_: Any) -> None:
        self.colours = (foreground, background)

    def _hl_attr_define(self, number: int, rgb: dict[str, Any], *_: Any) -> None:
        self.highlights[number] = rgb

    def _grid_resize(self, _grid: int, width: int, height: int) -> None:
        self.cells = [[Cell()] * width for _ in range(height)]

    def _grid_clear(self, _grid: int) -> None:
        self.cells = [[Cell()] * len(row) for row in self.cells]

    def _grid_cursor_goto(self, _grid: int, row: int, column: int) -> None:
        self.cursor = (row, column)

    def _grid_line(
        self, _grid: int, row: int, column: int, cells: list[Any], *_: Any
    ) -> None:
        highlight = 0
        for text, *rest in cells:
            highlight = rest[0] if rest else highlight
            for _ in range(rest[1] if len(rest) > 1 else 1):
                self.cells[row][column] = Cell(text, highlight)
                column += 1

    def _grid_scroll(
        self,
        _grid: int,
        top: int,
        bottom: int,
        left: int,
        right: int,
        rows: int,
        _: int,
    ) -> None:
        order = range(top, bottom) if rows > 0 else range(bottom - 1, top - 1, -1)
        for row in order:
            if top <= row + rows < bottom:
                self.cells[row][left:right] = self.cells[row + rows][left:right]
